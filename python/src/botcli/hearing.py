"""The caller's sound on its way to the bot."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable

from .gate import Gate
from .transport_types import AudioFrame

#: Frames that one slow reader may leave behind; the host stops earlier, so this only matters beside a fast reader.
READER_LIMIT = 128
#: The host wants to know at least this often.
HEARD_EVERY = 5


class _Reader:
    __slots__ = ("arrival", "frames")

    def __init__(self) -> None:
        self.frames: deque[AudioFrame] = deque(maxlen=READER_LIMIT)
        self.arrival = Gate()


class Hearing:
    """Hands sound to its readers, and confirms it to the host once every reader has taken it."""

    __slots__ = ("_confirm", "_confirmed", "_over", "_readers", "_received")

    def __init__(self, confirm: Callable[[int], None]) -> None:
        self._confirm = confirm
        self._readers: list[_Reader] = []
        self._received = 0
        self._confirmed = 0
        self._over = False

    def add(self, frame: AudioFrame) -> None:
        """Hands a frame to all readers. Without any it counts as heard, so that a later reader gets fresh sound."""
        self._received += 1
        for reader in self._readers:
            reader.frames.append(frame)
            reader.arrival.open()
        self._account()

    async def read(self) -> AsyncIterator[AudioFrame]:
        """Sound from now on, until the session ends."""
        reader = _Reader()
        self._readers.append(reader)
        frames = reader.frames
        try:
            while not self._over:
                if frames:
                    frame = frames.popleft()
                    self._account()
                    yield frame
                else:
                    await reader.arrival.wait()
        finally:
            self._readers.remove(reader)
            self._account()

    def end(self) -> None:
        """Ends all readers."""
        self._over = True
        for reader in self._readers:
            reader.arrival.open()

    def _account(self) -> None:
        behind = max((len(reader.frames) for reader in self._readers), default=0)
        heard = self._received - behind
        if heard - self._confirmed >= HEARD_EVERY and not self._over:
            self._confirmed = heard
            self._confirm(heard)
