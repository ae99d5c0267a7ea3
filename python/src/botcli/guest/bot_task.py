"""Tasks of the user, which may not want to end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any

#: A bot that does not see the end of its session is cancelled so long before it has to be done.
CANCEL_MARGIN_S = 1.0


async def stop_task(task: asyncio.Task[Any] | None, limit_s: float) -> None:
    """Waits for a task, and cancels it when the time is nearly up. Never waits longer than the limit."""
    if task is None or task.done():
        return
    margin = min(CANCEL_MARGIN_S, limit_s / 2)
    await asyncio.wait({task}, timeout=limit_s - margin)
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=margin)


async def cancel_all(tasks: Iterable[asyncio.Task[Any]], limit_s: float) -> None:
    """Cancels what the bot has left running, so that its last lines run."""
    left = {task for task in tasks if not task.done()}
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=limit_s)


class Helpers:
    """Work of ours that is followed by more, also when the bot cancels all tasks that it can find."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._tasks: set[asyncio.Task[None]] = set()

    def run(self, work: Coroutine[Any, Any, None], then: Callable[[], None]) -> None:
        """Does some work, and then calls back in any case."""
        task = self._loop.create_task(work)
        # The loop itself holds tasks only weakly.
        self._tasks.add(task)

        def after(_: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            then()

        task.add_done_callback(after)
