"""The guest's end of a link."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import Any, Protocol, cast

from .frame_reader import FrameReader
from .frames import LinkProtocolError, encode_audio_out, encode_control, encode_heard, encode_socket
from .host_messages import HostMessage, parse_host_message


class LinkHandlers(Protocol):
    """What arrives at the guest's end of a link."""

    def opened(self, port: LinkPort) -> None: ...
    def message(self, message: HostMessage) -> None: ...
    def audio_in(self, captured_at: int, audio: bytes) -> None: ...
    def playback(self, epoch: int, played: int, limit: int) -> None: ...
    def socket(self, data: str | bytes) -> None: ...
    def heard(self, count: int) -> None: ...
    def closed(self, error: Exception | None) -> None:
        """Called once. An error means that the peer or the stream broke; none means that the peer closed it."""


async def open_link(sock: socket.socket, handlers: LinkHandlers) -> LinkPort:
    """Speaks the link on a connected Unix socket, which belongs to the port from now on."""
    sock.setblocking(False)
    loop = asyncio.get_running_loop()
    _, port = await loop.create_unix_connection(lambda: LinkPort(handlers), sock=sock)
    return port


class LinkPort(asyncio.BufferedProtocol):
    """Messages and sound out, messages and sound in."""

    def __init__(self, handlers: LinkHandlers) -> None:
        self._handlers = handlers
        self._reader = FrameReader(self)
        self._transport: asyncio.Transport | None = None
        self._open = False
        #: Done when the stream is gone.
        self.gone: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def backlog(self) -> int:
        """Bytes that the host has not taken yet."""
        return 0 if self._transport is None else self._transport.get_write_buffer_size()

    def send(self, type: str, **fields: Any) -> None:
        """Sends a control message."""
        text = json.dumps({"type": type, **fields}, separators=(",", ":"))
        self._write(encode_control(text.encode()))

    def send_message(self, spelled: bytes) -> None:
        """Sends an application message that is JSON already."""
        self._write(encode_control(b'{"type":"message","data":%b}' % spelled))

    def send_audio_out(self, epoch: int, audio: bytes | memoryview) -> None:
        """Sends sound."""
        self._write(encode_audio_out(epoch, audio))

    def send_socket(self, data: str | bytes) -> None:
        """Sends a message of the caller's socket."""
        self._write(encode_socket(data))

    def send_heard(self, frames: int) -> None:
        """Confirms sound, or messages of the caller's socket."""
        self._write(encode_heard(frames))

    def close(self) -> None:
        """Closes the link; what was sent before is still delivered."""
        self._stop()
        transport = self._transport
        # Half of it, since a socket that is closed with unread bytes looks broken at the other end.
        if transport is not None and not transport.is_closing():
            transport.write_eof()

    def _write(self, data: bytes) -> None:
        if self._open and self._transport is not None:
            self._transport.write(data)

    def _stop(self) -> None:
        self._open = False
        self._reader.stop()

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._open = True
        self._handlers.opened(self)

    def get_buffer(self, sizehint: int) -> memoryview:
        return self._reader.buffer()

    def buffer_updated(self, nbytes: int) -> None:
        if not self._open:
            return
        try:
            self._reader.advance(nbytes)
        except LinkProtocolError as error:
            self._fail(error)

    def eof_received(self) -> bool:
        if self._open:
            self._stop()
            self._handlers.closed(None)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.gone.done():
            self.gone.set_result(None)
        if self._open:
            self._stop()
            self._handlers.closed(exc)

    # What the reader of frames calls.

    def on_control(self, payload: memoryview) -> None:
        self._handlers.message(parse_host_message(payload))

    def on_audio_in(self, captured_at: int, audio: bytes) -> None:
        self._handlers.audio_in(captured_at, audio)

    def on_playback(self, epoch: int, played: int, limit: int) -> None:
        self._handlers.playback(epoch, played, limit)

    def on_socket(self, data: str | bytes) -> None:
        self._handlers.socket(data)

    def on_heard(self, count: int) -> None:
        self._handlers.heard(count)

    def _fail(self, error: Exception) -> None:
        self._stop()
        if self._transport is not None:
            self._transport.abort()
        self._handlers.closed(error)
