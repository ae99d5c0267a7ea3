"""The caller's WebSocket, of which every message is passed on to the bot."""

from __future__ import annotations

from collections import deque
from typing import Protocol

from .errors import BotError
from .gate import Gate
from .link.frames import MAX_PAYLOAD_BYTES
from .outbox import Outbox
from .transport_types import EndReason

#: The host wants to know at least this often what was taken.
HEARD_EVERY = 5
#: What a bot is told of the end, as a server of WebSockets would tell it.
NORMAL = 1000
_CODES = {"client_left": NORMAL, "client_lost": 1006, "bot_returned": NORMAL, "bot_failed": 1011}
_GOING_AWAY = 1012


class SocketPort(Protocol):
    """The way to the caller."""

    def send_socket(self, data: str | bytes) -> None: ...
    def send_socket_close(self, code: int, reason: str) -> None: ...
    def send_heard(self, frames: int) -> None: ...


class PassedSocket:
    """Messages in, in their order and confirmed once the bot takes them; messages out, no faster than the caller takes
    them."""

    def __init__(self, port: SocketPort) -> None:
        self._port = port
        #: The host sends no more than it may have unconfirmed, so this is bounded.
        self._messages: deque[str | bytes] = deque()
        self._arrival = Gate()
        self._outbox = Outbox(port.send_socket)
        self._taken = 0
        self._confirmed = 0
        #: How it was closed, once it is.
        self.close_code: int | None = None
        self.close_reason = ""

    @property
    def closed(self) -> bool:
        """Whether nothing can be sent any more."""
        return self.close_code is not None

    async def receive(self) -> str | bytes | None:
        """The next message; None when there are no more."""
        while not self._messages:
            if self.closed:
                return None
            await self._arrival.wait()
        message = self._messages.popleft()
        self._taken += 1
        if self._taken - self._confirmed >= HEARD_EVERY or not self._messages:
            self._confirmed = self._taken
            self._port.send_heard(self._taken)
        return message

    async def send(self, data: str | bytes) -> bool:
        """Sends a message once the caller has taken most of the earlier ones. False when the socket is closed."""
        size = len(data.encode()) if isinstance(data, str) and not data.isascii() else len(data)
        if size > MAX_PAYLOAD_BYTES:
            text = f"a message of a socket may have {MAX_PAYLOAD_BYTES} bytes; this one has {size}. Send it in parts"
            raise BotError("invalid_message", text)
        return await self._outbox.put(data, size)

    async def flushed(self) -> None:
        """Returns when nothing waits to be sent."""
        await self._outbox.flushed()

    def close(self, code: int, reason: str) -> None:
        """Closes the caller's socket. What waits to be sent is dropped."""
        if self.closed:
            return
        self._port.send_socket_close(code, reason)
        # What the caller still says is said to nobody.
        self._messages.clear()
        self._end(code, reason)

    # What the session calls.

    def message(self, data: str | bytes) -> None:
        """A message of the caller."""
        if self.closed:
            return
        self._messages.append(data)
        self._arrival.open()

    def heard(self, count: int) -> None:
        """The caller's socket has taken so many messages."""
        self._outbox.confirm(count)

    def caller_left(self, code: int, reason: str) -> None:
        """The caller's socket is closed. What came before can still be read."""
        if not self.closed:
            self._end(code, reason)

    def ended(self, reason: EndReason) -> None:
        """The session is over. What came before it can still be read."""
        if not self.closed:
            self._end(_CODES.get(reason.cause, _GOING_AWAY), reason.message)

    def _end(self, code: int, reason: str) -> None:
        self.close_code, self.close_reason = code, reason
        self._outbox.close()
        self._arrival.open()
