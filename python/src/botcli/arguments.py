"""What `bot(args)` gets: one variant for each kind of wire."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from .connections import PhoneCall, WebRTCConnection, WebSocketConnection
from .transport_ids import CarrierId

if TYPE_CHECKING:
    from .link.bot_start import BotStart

Variant = Literal["base", "room", "webrtc", "websocket"]

#: The fields that only one variant has.
_OWNER = {
    "webrtc_connection": "WebRTCRunnerArguments",
    "websocket": "WebSocketRunnerArguments",
    "transport_type": "WebSocketRunnerArguments",
    "call": "WebSocketRunnerArguments",
    "room_url": "RoomRunnerArguments",
    "token": "RoomRunnerArguments",
}


@dataclass(kw_only=True)
class RunnerArguments:
    """Fields that every variant has; by itself, a session with no wire of its own."""

    variant: ClassVar[Variant] = "base"

    #: The one id of this session: the client, the logs and the API see the same.
    session_id: str = ""
    #: What the client gave to `/start`; an empty dictionary when it gave nothing.
    body: dict[str, Any] = field(default_factory=dict)
    #: Both are managed by the development runner.
    handle_sigint: bool = False
    handle_sigterm: bool = False

    def __getstate__(self) -> dict[str, Any]:
        # A copy is data only: the session belongs to the object that `bot` was called with.
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            kind = type(self).__name__
            owner = _OWNER.get(name)
            if owner is None or owner == kind:
                raise AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=self)
            raise AttributeError(
                f"args.{name} exists only on {owner}; the arguments of this session are {kind}. "
                f"Check isinstance(args, {owner}) first",
                name=name,
                obj=self,
            )


@dataclass(kw_only=True)
class RoomRunnerArguments(RunnerArguments):
    """A session in a room of the room provider."""

    variant: ClassVar[Variant] = "room"

    room_url: str
    token: str | None = field(default=None, repr=False)


@dataclass(kw_only=True)
class WebRTCRunnerArguments(RunnerArguments):
    """A session over a peer connection."""

    variant: ClassVar[Variant] = "webrtc"

    webrtc_connection: WebRTCConnection


@dataclass(kw_only=True)
class WebSocketRunnerArguments(RunnerArguments):
    """A session over a WebSocket, plain or of a phone carrier."""

    variant: ClassVar[Variant] = "websocket"

    websocket: WebSocketConnection
    transport_type: Literal["websocket", "eval"] | CarrierId = "websocket"
    #: Only when a phone carrier is at the other end. Its numbers and parameters are in `body`, too.
    call: PhoneCall | None = None


def arguments_of(start: BotStart) -> RunnerArguments:
    """The arguments of a session."""
    session_id, body = start.session_id, start.body
    if start.transport == "webrtc":
        if start.webrtc is not None:
            return WebRTCRunnerArguments(session_id=session_id, body=body, webrtc_connection=start.webrtc)
    elif start.transport == "room":
        if start.room is not None:
            room_url, token = start.room
            return RoomRunnerArguments(session_id=session_id, body=body, room_url=room_url, token=token)
    elif start.websocket is not None:
        return WebSocketRunnerArguments(
            session_id=session_id,
            body=body,
            websocket=start.websocket,
            transport_type=start.transport,
            call=start.call,
        )
    return RunnerArguments(session_id=session_id, body=body)
