"""Rooms of the room provider, joined by the library."""

from __future__ import annotations

from typing import Any

from ..dialin import DialinRequest
from ..errors import BotError
from ..session_port import SessionPort

BOT_NAME = "Bot"


def make_room_transport(session: SessionPort, params: object) -> object:
    """The library's transport for rooms, with the room and the token of this session."""
    try:
        from pipecat.transports.daily.transport import DailyDialinSettings, DailyParams, DailyTransport
    except Exception as cause:
        # The library raises errors of several kinds where a part of it is not installed.
        raise BotError(
            "no_room_transport",
            "this session is in a room of the room provider, for which a part of pipecat-ai is missing; "
            "install 'pipecat-ai[daily]' into the environment of this bot",
        ) from cause
    room = session.start.room
    if room is None or not isinstance(params, DailyParams):
        kind = f"{type(params).__module__}.{type(params).__qualname__}"
        raise BotError("invalid_params", f"the factory for 'room' gave {kind}; it must give DailyParams of pipecat-ai")
    if "dialin_settings" in session.start.body:
        request = DialinRequest.from_body(session.start.body)
        call = request.dialin_settings
        params.dialin_settings = DailyDialinSettings(call_id=call.call_id, call_domain=call.call_domain)
        params.api_key, params.api_url = request.room_api_key, request.room_api_url
    transport: Any = DailyTransport(room.room_url, room.token, BOT_NAME, params=params)
    return transport
