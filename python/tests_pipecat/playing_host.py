"""A host that plays the bot's sound in real time, as a media worker does."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

# The host's end of a link is shared with the tests that need no other library.
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from loguru import logger  # noqa: E402
from support.host import Host  # noqa: E402

# The library tells of every step that it takes.
logger.remove()

STEP_S = 0.02
CREDIT_S = 0.4


class PlayingHost(Host):
    """Plays 20 ms each 20 ms, grants 400 ms ahead, answers each clear; knows what was heard, and when."""

    played: list[bytes]
    #: When the last sample was played.
    played_at: float
    #: When each clear came, and how many bytes had been heard by then.
    clears: list[tuple[float, int]]

    def play(self) -> None:
        """Begins to play; call it once the bot has said its rates."""
        self.played, self.clears, self.played_at = [], [], 0.0
        self._waiting = b""
        self._base = 0
        self._position = 0
        self._rate = next(m["outputRate"] for m in self.messages if m["type"] == "format")
        self._seen = len(self.sound)
        self._player = asyncio.create_task(self._play())
        self._grant()

    @property
    def heard_bytes(self) -> bytes:
        """All that the caller has heard."""
        return b"".join(self.played)

    def _grant(self) -> None:
        self.playback(self._epoch, self._position, self._position + int(self._rate * CREDIT_S))

    async def _play(self) -> None:
        step = int(self._rate * STEP_S) * 2
        due = time.monotonic()
        while not self.closed.is_set():
            due += STEP_S
            await asyncio.sleep(max(due - time.monotonic(), 0))
            piece, self._waiting = self._waiting[:step], self._waiting[step:]
            if piece:
                self.played.append(piece)
                self.played_at = time.monotonic()
                self._position += len(piece) // 2
                self._grant()

    def _take(self, kind: int, payload: bytes) -> None:
        super()._take(kind, payload)
        if not hasattr(self, "clears"):
            return
        if kind == 3:
            epoch, audio = self.sound[-1]
            if epoch == self._epoch:
                self._waiting += audio
        elif kind == 1 and self.messages[-1]["type"] == "clear":
            self.clears.append((time.monotonic(), len(self.heard_bytes)))
            self.send("cleared", epoch=self._epoch, playedSamples=self._position)
            self._waiting, self._position = b"", 0
            self._grant()

    async def close(self) -> None:
        if hasattr(self, "_player"):
            self._player.cancel()
        await super().close()
