"""The joint between a session and the transport that its bot makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from .transport_types import EndReason

if TYPE_CHECKING:
    from .http_response import RequestHandler
    from .link.bot_start import BotStart
    from .link.host_messages import HostMessage
    from .passed_peer import PassedPeer
    from .passed_socket import PassedSocket

#: Where arguments carry their session.
_SESSION = "_botcli_session"


class SessionReceiver(Protocol):
    """What a transport gets from its session."""

    def message(self, message: HostMessage) -> None: ...
    def audio_in(self, captured_at: int, audio: bytes) -> None: ...
    def playback(self, epoch: int, played: int, limit: int) -> None: ...
    def ended(self, reason: EndReason) -> None:
        """The session is over. Called once, last."""

    async def drained(self) -> None:
        """Returns when all sound was played."""


class SessionPort(Protocol):
    """The session as its transport sees it."""

    @property
    def start(self) -> BotStart: ...
    @property
    def end_reason(self) -> EndReason | None: ...
    @property
    def attached(self) -> bool: ...
    @property
    def backlog(self) -> int:
        """Bytes that the host has not taken yet."""

    @property
    def socket(self) -> PassedSocket | None:
        """The caller's socket, where it is passed through."""

    @property
    def peer(self) -> PassedPeer | None:
        """The caller's side of a peer connection, where it is passed through."""

    def attach(self, receiver: SessionReceiver) -> None:
        """Makes this the transport of the session. What came before it was made follows, after the current turn."""

    def serve(self, handler: RequestHandler) -> None:
        """Lets the bot answer requests. Once in a session."""

    def send_format(self, input_rate: int, output_rate: int) -> None: ...
    def send_message(self, spelled: bytes) -> None:
        """Sends a message that `spell_message` has spelled."""

    def send_dtmf(self, keys: str) -> None: ...
    def send_clear(self, epoch: int) -> None: ...
    def send_audio_out(self, epoch: int, audio: bytes | memoryview) -> None: ...
    def send_heard(self, frames: int) -> None: ...
    def fail(self, error: BaseException) -> None:
        """The bot is broken, as if it had raised."""

    def finish(self) -> None:
        """The bot wants the session to be over."""


def register_session(args: object, port: SessionPort) -> None:
    """Remembers the session behind arguments."""
    setattr(args, _SESSION, port)


def session_of(args: object) -> SessionPort | None:
    """The session behind arguments, if they are those that `bot` was called with."""
    return getattr(args, "__dict__", {}).get(_SESSION)
