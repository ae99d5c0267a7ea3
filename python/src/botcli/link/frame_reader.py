"""Cuts a byte stream into frames."""

from __future__ import annotations

from typing import Final, Protocol

from .frames import (
    AUDIO_IN,
    CONTROL,
    COUNT,
    HEADER,
    HEADER_BYTES,
    HEARD,
    MAX_PAYLOAD_BYTES,
    PLAYBACK,
    POSITION,
    SOCKET_BINARY,
    SOCKET_TEXT,
    TAG,
    LinkProtocolError,
)

#: Many frames of sound a read; what is longer gets a larger buffer for as long as it takes.
BUFFER_BYTES: Final = 64 * 1024


class FrameHandlers(Protocol):
    """What takes the frames of a host."""

    def on_control(self, payload: memoryview) -> None:
        """The payload is gone when this returns."""

    def on_audio_in(self, captured_at: int, audio: bytes) -> None: ...
    def on_playback(self, epoch: int, played: int, limit: int) -> None: ...
    def on_socket(self, data: str | bytes) -> None: ...
    def on_heard(self, count: int) -> None: ...


class FrameReader:
    """Reads into one buffer, and calls a handler for each frame that is complete. Raises LinkProtocolError once the
    stream makes no sense."""

    __slots__ = ("_end", "_handlers", "_stopped", "_view")

    def __init__(self, handlers: FrameHandlers) -> None:
        self._handlers = handlers
        self._view = memoryview(bytearray(BUFFER_BYTES))
        self._end = 0
        self._stopped = False

    def buffer(self) -> memoryview:
        """Where the next bytes go. It is never empty."""
        return self._view[self._end :]

    def stop(self) -> None:
        """Nothing more is to be handed out."""
        self._stopped = True

    def advance(self, count: int) -> None:
        """So many bytes have come into the buffer."""
        view = self._view
        start, end = 0, self._end + count
        need = HEADER_BYTES
        while end - start >= HEADER_BYTES and not self._stopped:
            kind, length = HEADER.unpack_from(view, start)
            if length > MAX_PAYLOAD_BYTES:
                raise LinkProtocolError(f"a frame announces {length} bytes; {MAX_PAYLOAD_BYTES} are allowed")
            stop = start + HEADER_BYTES + length
            if stop > end:
                need = HEADER_BYTES + length
                break
            self._hand_out(kind, view[start + HEADER_BYTES : stop])
            start = stop
        self._keep(start, end, need)

    def _hand_out(self, kind: int, payload: memoryview) -> None:
        if kind == AUDIO_IN:
            size = len(payload)
            if size < TAG.size or size % 2 != 0:
                raise LinkProtocolError(f"an audio frame has {size} bytes; 4 and whole samples are needed")
            (captured_at,) = TAG.unpack_from(payload)
            # A copy, because the buffer is filled again and the bot keeps the sound as long as it likes.
            self._handlers.on_audio_in(captured_at, bytes(payload[TAG.size :]))
        elif kind == PLAYBACK:
            if len(payload) != POSITION.size:
                raise LinkProtocolError(f"a playback frame has {len(payload)} bytes instead of {POSITION.size}")
            self._handlers.on_playback(*POSITION.unpack(payload))
        elif kind == CONTROL:
            self._handlers.on_control(payload)
        elif kind == SOCKET_BINARY:
            self._handlers.on_socket(bytes(payload))
        elif kind == SOCKET_TEXT:
            self._handlers.on_socket(_text_of(payload))
        elif kind == HEARD:
            if len(payload) != COUNT.size:
                raise LinkProtocolError(f"a heard frame has {len(payload)} bytes instead of {COUNT.size}")
            self._handlers.on_heard(*COUNT.unpack(payload))
        else:
            raise LinkProtocolError(f"{kind} is not a kind of frame that a host sends")

    def _keep(self, start: int, end: int, need: int) -> None:
        """Moves the rest to the front of a buffer that can hold all of its frame."""
        rest = end - start
        size = max(need, BUFFER_BYTES)
        if len(self._view) != size:
            view = memoryview(bytearray(size))
            view[:rest] = self._view[start:end]
            self._view = view
        elif rest > 0 and start > 0:
            self._view[:rest] = bytes(self._view[start:end])
        self._end = rest


def _text_of(payload: memoryview) -> str:
    try:
        return str(payload, "utf-8")
    except UnicodeDecodeError:
        raise LinkProtocolError("a text message of the socket is not UTF-8") from None
