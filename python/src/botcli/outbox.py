"""What the bot sends to its caller's socket: no more than the caller takes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from .errors import BotError
from .link.frames import LinkProtocolError

#: What may be on its way without having been confirmed. One message may always go.
CREDIT_MESSAGES = 100
CREDIT_BYTES = 1024 * 1024
#: What may wait for that, of a bot that does not await what it sends.
WAITING_MESSAGES = 1000
WAITING_BYTES = 8 * 1024 * 1024


@dataclass(slots=True, eq=False)
class _Waiting:
    data: str | bytes
    size: int
    #: Done when it was sent, or will not be: then it is false.
    sent: asyncio.Future[bool]


class Outbox:
    """Sends messages in their order, and lets who is ahead of the caller wait."""

    def __init__(self, send: Callable[[str | bytes], None]) -> None:
        self._send = send
        #: Sizes of what is on its way, the oldest first.
        self._unconfirmed: deque[int] = deque()
        self._unconfirmed_bytes = 0
        self._confirmed = 0
        self._waiting: deque[_Waiting] = deque()
        self._waiting_bytes = 0
        self._closed = False

    async def put(self, data: str | bytes, size: int) -> bool:
        """Sends a message as soon as there is room for it. False when there is nobody to send it to any more."""
        if self._closed:
            return False
        if not self._waiting and self._has_room_for(size):
            self._let_go(data, size)
            return True
        if len(self._waiting) >= WAITING_MESSAGES or self._waiting_bytes + size > WAITING_BYTES:
            raise BotError(
                "flooded",
                f"the caller is slow, and {len(self._waiting)} messages wait for it already; await each send",
            )
        waiting = _Waiting(data, size, asyncio.get_running_loop().create_future())
        self._waiting.append(waiting)
        self._waiting_bytes += size
        try:
            return await waiting.sent
        except asyncio.CancelledError:
            if waiting in self._waiting:
                self._waiting.remove(waiting)
                self._waiting_bytes -= size
                # It may have been the one that was too large for those behind it.
                self._flush()
            raise

    async def flushed(self) -> None:
        """Returns when nothing waits."""
        while self._waiting:
            await asyncio.wait({self._waiting[-1].sent})

    def confirm(self, count: int) -> None:
        """The caller's socket has taken so many in all."""
        fresh = count - self._confirmed
        if fresh > len(self._unconfirmed):
            raise LinkProtocolError(f"the host confirmed {count} messages of the socket; fewer were sent")
        for _ in range(fresh):
            self._confirmed += 1
            self._unconfirmed_bytes -= self._unconfirmed.popleft()
        self._flush()

    def close(self) -> None:
        """Nobody takes anything any more."""
        self._closed = True
        waiting, self._waiting = self._waiting, deque()
        self._waiting_bytes = 0
        for each in waiting:
            if not each.sent.done():
                each.sent.set_result(False)

    def _flush(self) -> None:
        while self._waiting and self._has_room_for(self._waiting[0].size):
            next_one = self._waiting.popleft()
            self._waiting_bytes -= next_one.size
            # Whoever waited for it may have been cancelled in this very turn.
            if not next_one.sent.done():
                self._let_go(next_one.data, next_one.size)
                next_one.sent.set_result(True)

    def _let_go(self, data: str | bytes, size: int) -> None:
        self._unconfirmed.append(size)
        self._unconfirmed_bytes += size
        self._send(data)

    def _has_room_for(self, size: int) -> bool:
        if len(self._unconfirmed) >= CREDIT_MESSAGES:
            return False
        return not self._unconfirmed or self._unconfirmed_bytes + size <= CREDIT_BYTES
