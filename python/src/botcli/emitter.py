"""Listeners by event."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

Listener = Callable[..., object]


class Emitter:
    """Calls listeners, which may be plain or async functions. What one raises is handed on, never lost."""

    __slots__ = ("_fail", "_listeners", "_tasks")

    def __init__(self, fail: Callable[[BaseException], None]) -> None:
        self._fail = fail
        self._listeners: dict[str, tuple[Listener, ...]] = {}
        self._tasks: set[asyncio.Future[Any]] = set()

    def on(self, event: str, listener: Listener) -> None:
        """Adds a listener."""
        self._listeners[event] = (*self._listeners.get(event, ()), listener)

    def off(self, event: str, listener: Listener) -> None:
        """Takes a listener away."""
        self._listeners[event] = tuple(known for known in self._listeners.get(event, ()) if known != listener)

    def has(self, event: str, listener: Listener | None = None) -> bool:
        """Whether anybody listens, or this one does."""
        listeners = self._listeners.get(event, ())
        return len(listeners) > 0 if listener is None else listener in listeners

    def emit(self, event: str, *args: object) -> None:
        """Calls all listeners of an event."""
        for listener in self._listeners.get(event, ()):
            self.call(listener, *args)

    def call(self, listener: Listener, *args: object) -> None:
        """Calls one listener with the same care."""
        try:
            result = listener(*args)
        except Exception as error:
            self._fail(error)
            return
        if not asyncio.iscoroutine(result):
            return
        # The loop itself holds tasks only weakly.
        task = asyncio.ensure_future(result)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def call_soon(self, event: str, listener: Listener, *args: object) -> None:
        """Calls one listener after the current turn, if it still listens then."""

        def call() -> None:
            if self.has(event, listener):
                self.call(listener, *args)

        asyncio.get_running_loop().call_soon(call)

    def _done(self, task: asyncio.Future[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            self._fail(error)
