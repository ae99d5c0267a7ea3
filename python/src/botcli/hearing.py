"""The caller's sound on its way to the bot."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Callable

from .gate import Gate
from .listener_calls import Listener, ListenerCalls
from .transport_types import AudioFrame

#: Frames that one slow reader may leave behind; the host stops earlier, so this only matters beside a fast reader.
READER_LIMIT = 128
#: The host wants to know at least this often.
HEARD_EVERY = 5


class _Reader:
    __slots__ = ("arrival", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[AudioFrame] = deque(maxlen=READER_LIMIT)
        self.arrival = Gate()

    def add(self, frame: AudioFrame) -> None:
        self.waiting.append(frame)
        self.arrival.open()


class Hearing:
    """Hands sound to its readers and listeners, and confirms it to the host once the fastest of them has taken it. The
    others lose their oldest, so that nobody who stands still makes the bot deaf."""

    __slots__ = ("_confirm", "_confirmed", "_over", "_received", "_takers")

    def __init__(self, confirm: Callable[[int], None]) -> None:
        self._confirm = confirm
        self._takers: tuple[_Reader | ListenerCalls, ...] = ()
        self._received = 0
        self._confirmed = 0
        self._over = False

    def add(self, frame: AudioFrame) -> None:
        """Hands a frame on. Where nobody wants it, it counts as heard, so that a later reader gets fresh sound."""
        self._received += 1
        for taker in self._takers:
            taker.add(frame)
        self._account()

    def on(self, listener: Listener, fail: Callable[[BaseException], None]) -> None:
        """Adds a listener, and somebody who is told what it raises."""
        calls = ListenerCalls(listener, fail, limit=READER_LIMIT, on_taken=self._account)
        self._takers = (*self._takers, calls)

    def off(self, listener: Listener) -> None:
        """Takes a listener away."""
        for taker in self._takers:
            if isinstance(taker, ListenerCalls) and taker.listener == listener:
                self._leave(taker)

    async def read(self) -> AsyncIterator[AudioFrame]:
        """Sound from now on, until the session ends."""
        reader = _Reader()
        self._takers = (*self._takers, reader)
        frames = reader.waiting
        try:
            while not self._over:
                if frames:
                    frame = frames.popleft()
                    self._account()
                    yield frame
                else:
                    await reader.arrival.wait()
        finally:
            self._leave(reader)

    def end(self) -> None:
        """Ends all readers, and drops what waits for listeners."""
        self._over = True
        for taker in self._takers:
            taker.waiting.clear()
            if isinstance(taker, _Reader):
                taker.arrival.open()

    def _leave(self, gone: _Reader | ListenerCalls) -> None:
        gone.waiting.clear()
        self._takers = tuple(taker for taker in self._takers if taker is not gone)
        self._account()

    def _account(self) -> None:
        behind = min((len(taker.waiting) for taker in self._takers), default=0)
        heard = self._received - behind
        if heard - self._confirmed >= HEARD_EVERY and not self._over:
            self._confirmed = heard
            self._confirm(heard)
