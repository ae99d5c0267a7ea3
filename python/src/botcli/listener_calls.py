"""The calls of one listener."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Any

Listener = Callable[..., object]

#: The loop itself holds tasks only weakly.
_running: set[asyncio.Future[Any]] = set()


class ListenerCalls:
    """Calls a listener, which may be a plain or an async function: one call at a time, in the order of the events.
    What it raises is handed on, never lost."""

    __slots__ = ("_fail", "_on_taken", "_task", "listener", "waiting")

    def __init__(
        self,
        listener: Listener,
        fail: Callable[[BaseException], None],
        *,
        limit: int | None = None,
        on_taken: Callable[[], None] = lambda: None,
    ) -> None:
        self.listener = listener
        #: Events that came while a call was under way. Beyond a limit the oldest are lost.
        self.waiting: deque[tuple[object, ...]] = deque(maxlen=limit)
        self._fail = fail
        self._on_taken = on_taken
        self._task: asyncio.Future[Any] | None = None

    def add(self, *args: object) -> None:
        """Calls the listener, now or when it is done with what came before."""
        self.waiting.append(args)
        self._go_on()

    def _go_on(self) -> None:
        while self._task is None and self.waiting:
            args = self.waiting.popleft()
            self._on_taken()
            self._call(args)

    def _call(self, args: tuple[object, ...]) -> None:
        try:
            result = self.listener(*args)
        except Exception as error:
            self._broke(error)
            return
        if not asyncio.iscoroutine(result):
            return
        self._task = asyncio.ensure_future(result)
        _running.add(self._task)
        self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Future[Any]) -> None:
        _running.discard(task)
        self._task = None
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._broke(error)
        self._go_on()

    def _broke(self, error: BaseException) -> None:
        # The session is over with this.
        self.waiting.clear()
        self._fail(error)
