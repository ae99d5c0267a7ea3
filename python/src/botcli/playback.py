"""The bot's sound on its way to the caller."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Protocol

from .errors import BotError
from .gate import Gate
from .transport_types import ClearResult

#: How far a bot that waits may be ahead of the caller's ear.
AHEAD_MS = 1000
#: A bot with this much in the queue does not wait at all.
QUEUE_LIMIT_MS = 60_000
#: The longest piece that the link takes.
PIECE_MS = 100
SAMPLE_BYTES = 2


class PlaybackPort(Protocol):
    """Where sound goes."""

    def send_clear(self, epoch: int) -> None: ...
    def send_audio_out(self, epoch: int, audio: bytes | memoryview) -> None: ...


class Playback:
    """Sends sound within the host's credit and keeps what is beyond it. All counts are samples of the current epoch,
    which ends with each clear."""

    def __init__(self, port: PlaybackPort, rate: int, ahead_ms: int = AHEAD_MS) -> None:
        self._port = port
        self._rate = rate
        self._longest = rate * PIECE_MS // 1000 * SAMPLE_BYTES
        self._ahead = rate * ahead_ms // 1000
        self._room = Gate()
        self._silence = Gate()
        self._clears: dict[int, Callable[[int], None]] = {}
        self._queue: deque[bytes | memoryview] = deque()
        self._epoch = 0
        self._unsent = 0
        self._sent = 0
        self._played = 0
        self._limit = 0
        self._over = False

    @property
    def played_ms(self) -> float:
        """Milliseconds that were played since the last clear."""
        return self._played * 1000 / self._rate

    @property
    def queued_ms(self) -> float:
        """Milliseconds of sound queued and not yet played."""
        return self._queued * 1000 / self._rate

    @property
    def played(self) -> int:
        """Samples that were played since the last clear."""
        return self._played

    @property
    def length(self) -> int:
        """Samples that were queued since the last clear, played or not."""
        return self._unsent + self._sent

    @property
    def _queued(self) -> int:
        return self._unsent + self._sent - self._played

    async def add(self, audio: bytes) -> None:
        """Queues sound; returns when the bot may go on."""
        self.put(audio)
        while self._queued > self._ahead:
            await self._room.wait()

    def put(self, audio: bytes) -> None:
        """Queues sound, whether there is room or not."""
        if not audio or self._over:
            return
        if self.queued_ms > QUEUE_LIMIT_MS:
            raise BotError(
                "flooded",
                f"more than {QUEUE_LIMIT_MS // 1000} seconds of sound are queued; "
                "await send_audio() before sending more",
            )
        self._queue.append(audio)
        self._unsent += len(audio) // SAMPLE_BYTES
        self._pump()

    def clear(self) -> asyncio.Future[ClearResult]:
        """Drops what was not played."""
        result: asyncio.Future[ClearResult] = asyncio.get_running_loop().create_future()
        if self._over or self._sent + self._unsent == 0:
            result.set_result(ClearResult(0))
            return result
        played_so_far = self._played

        def answer(played: int) -> None:
            if not result.done():
                result.set_result(ClearResult(max(played, played_so_far) * 1000 / self._rate))

        self._epoch += 1
        self._clears[self._epoch] = answer
        self._drop()
        self._port.send_clear(self._epoch)
        return result

    def cleared(self, epoch: int, played: int) -> None:
        """The host's answer to a clear."""
        answer = self._clears.pop(epoch, None)
        if answer is not None:
            answer(played)

    def progress(self, epoch: int, played: int, limit: int) -> None:
        """The host played something, or grants more."""
        if epoch != self._epoch:
            return
        self._played = min(played, self._sent)
        self._limit = limit
        self._pump()
        self._wake()

    async def drained(self) -> None:
        """Returns when everything was played, cleared, or the session ended."""
        while self._queued > 0:
            await self._silence.wait()

    def end(self) -> None:
        """Lets go of everything that waits."""
        self._over = True
        played = self._played
        self._drop()
        self._played = self._sent = played
        clears, self._clears = self._clears, {}
        for answer in clears.values():
            answer(0)

    def _drop(self) -> None:
        self._queue.clear()
        self._unsent = self._sent = self._played = self._limit = 0
        self._wake()

    def _wake(self) -> None:
        queued = self._queued
        if queued <= self._ahead:
            self._room.open()
        if queued == 0:
            self._silence.open()

    def _pump(self) -> None:
        queue = self._queue
        while queue and self._sent < self._limit:
            head = queue[0]
            size = min(len(head), self._longest, (self._limit - self._sent) * SAMPLE_BYTES)
            if size == len(head):
                piece = queue.popleft()
            else:
                view = memoryview(head)
                piece, queue[0] = view[:size], view[size:]
            self._sent += size // SAMPLE_BYTES
            self._unsent -= size // SAMPLE_BYTES
            self._port.send_audio_out(self._epoch, piece)
