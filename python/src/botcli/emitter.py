"""Listeners by event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from .errors import BotError
from .listener_calls import Listener, ListenerCalls

#: Events that may wait for one listener. None of them can be left out, so a bot that is slower for long is broken.
WAITING_LIMIT = 1024


class Emitter:
    """Calls listeners, each of them with one event at a time. What one raises is handed on, never lost."""

    __slots__ = ("_fail", "_listeners")

    def __init__(self, fail: Callable[[BaseException], None]) -> None:
        self._fail = fail
        self._listeners: dict[str, tuple[ListenerCalls, ...]] = {}

    def on(self, event: str, listener: Listener) -> None:
        """Adds a listener."""
        self._listeners[event] = (*self._listeners.get(event, ()), ListenerCalls(listener, self._fail))

    def off(self, event: str, listener: Listener) -> None:
        """Takes a listener away, and what waits for it."""
        known = self._listeners.get(event, ())
        for calls in known:
            if calls.listener == listener:
                calls.waiting.clear()
        self._listeners[event] = tuple(calls for calls in known if calls.listener != listener)

    def has(self, event: str) -> bool:
        """Whether anybody listens."""
        return len(self._listeners.get(event, ())) > 0

    def emit(self, event: str, *args: object) -> None:
        """Calls all listeners of an event."""
        for calls in self._listeners.get(event, ()):
            if len(calls.waiting) < WAITING_LIMIT:
                calls.add(*args)
            else:
                calls.waiting.clear()
                self._fail(_flooded(event, calls.listener))

    def call(self, listener: Listener, *args: object) -> None:
        """Calls one that does not listen any further, with the same care."""
        ListenerCalls(listener, self._fail).add(*args)

    def call_soon(self, event: str, listener: Listener, *args: object) -> None:
        """Calls one listener after the current turn, if it still listens then."""

        def call() -> None:
            for calls in self._listeners.get(event, ()):
                if calls.listener == listener:
                    calls.add(*args)
                    return

        asyncio.get_running_loop().call_soon(call)


def _flooded(event: str, listener: Listener) -> BotError:
    name = getattr(listener, "__qualname__", type(listener).__qualname__)
    text = (
        f"{WAITING_LIMIT} events '{event}' wait for the listener {name}, which gets one at a time; "
        "let it return sooner, and do what takes long in a task of its own"
    )
    return BotError("flooded", text)
