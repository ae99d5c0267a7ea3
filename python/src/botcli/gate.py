"""A place to wait."""

from __future__ import annotations

import asyncio


class Gate:
    """Everybody who waits goes on when it is opened, and it shuts again behind them."""

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: list[asyncio.Future[None]] = []

    async def wait(self) -> None:
        """Returns when the gate is opened the next time."""
        # One future each: a task that is cancelled takes the future along that it waits for.
        future = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        try:
            await future
        finally:
            if future in self._waiting:
                self._waiting.remove(future)

    def open(self) -> None:
        """Lets everybody go on."""
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        for future in waiting:
            if not future.done():
                future.set_result(None)
