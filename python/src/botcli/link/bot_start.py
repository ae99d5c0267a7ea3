"""Everything that `bot(args)` is told, as the host sends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeGuard, TypeVar

from ..connections import PhoneCall, WebRTCConnection, WebSocketConnection
from ..transport_ids import TRANSPORT_IDS, SessionTransport
from .fields import flag_field, int_field, object_field, optional_text, text_field
from .frames import LinkProtocolError

T = TypeVar("T")


class RoomAddress(NamedTuple):
    """A room of the room provider."""

    room_url: str
    token: str | None


@dataclass(frozen=True, slots=True)
class BotStart:
    """The facts of one session."""

    session_id: str
    transport: SessionTransport
    body: dict[str, Any]
    webrtc: WebRTCConnection | None = None
    websocket: WebSocketConnection | None = None
    call: PhoneCall | None = None
    room: RoomAddress | None = None
    #: The bot speaks to its caller itself, in the caller's own protocol.
    pass_through: bool = False


def bot_start_of(source: dict[str, Any]) -> BotStart:
    """Reads the field `start` of a `start` message."""
    transport = text_field(source, "transport")
    if not _is_transport(transport):
        raise LinkProtocolError(f"{transport!r} is not a transport; allowed are {', '.join(TRANSPORT_IDS)}")
    return BotStart(
        session_id=text_field(source, "sessionId"),
        transport=transport,
        body=object_field(source, "body"),
        webrtc=_optional(source, "webrtc", lambda webrtc: WebRTCConnection(text_field(webrtc, "pcId"))),
        websocket=_optional(source, "websocket", _websocket_of),
        call=_optional(source, "call", _phone_call_of),
        room=_optional(source, "room", _room_of),
        pass_through=flag_field(source, "passThrough"),
    )


def _is_transport(text: str) -> TypeGuard[SessionTransport]:
    return text == "eval" or text in TRANSPORT_IDS


def _optional(source: dict[str, Any], name: str, read: Callable[[dict[str, Any]], T]) -> T | None:
    return read(object_field(source, name)) if name in source else None


def _websocket_of(websocket: dict[str, Any]) -> WebSocketConnection:
    headers = _optional(websocket, "headers", _texts_of) or {}
    query = optional_text(websocket, "query") or ""
    return WebSocketConnection(text_field(websocket, "path"), text_field(websocket, "remoteAddress"), headers, query)


def _room_of(room: dict[str, Any]) -> RoomAddress:
    return RoomAddress(text_field(room, "roomUrl"), optional_text(room, "token"))


def _texts_of(source: dict[str, Any]) -> dict[str, str]:
    return {name: text_field(source, name) for name in source}


def _phone_call_of(call: dict[str, Any]) -> PhoneCall:
    return PhoneCall(
        call_id=text_field(call, "callId"),
        stream_id=text_field(call, "streamId"),
        codec=text_field(call, "codec"),
        rate=int_field(call, "rate"),
        from_number=optional_text(call, "from"),
        to_number=optional_text(call, "to"),
        custom=_texts_of(object_field(call, "custom")),
    )
