"""Arguments as the library's own runner gives them."""

from __future__ import annotations

from typing import Any

from pipecat.runner import types

from ..errors import BotError
from ..session_port import SessionPort
from ..stand_in_websocket import StandInWebSocket


async def foreign_arguments_of(session: SessionPort) -> object:
    """The variant for this session, with the caller's own wire in it."""
    args = await _variant_of(session)
    args.body = _body_of(session.start.body)
    args.session_id = session.start.session_id
    args.handle_sigint = args.handle_sigterm = False
    return args


async def _variant_of(session: SessionPort) -> Any:
    start = session.start
    if start.room is not None:
        return types.DailyRunnerArguments(room_url=start.room.room_url, token=start.room.token)
    if session.peer is not None:
        # It needs a library of its own, which not every bot has.
        from .peer import connect

        return types.SmallWebRTCRunnerArguments(webrtc_connection=await connect(session.peer))
    if session.socket is not None and start.websocket is not None:
        socket: Any = StandInWebSocket(session.socket, start.websocket, evals=start.transport == "eval")
        args = types.WebSocketRunnerArguments(websocket=socket)
        # For a phone carrier or an evaluation the library finds out by itself, from the first messages.
        args.transport_type = "websocket" if start.transport == "websocket" else None
        return args
    if start.transport in ("webrtc", "websocket") or start.websocket is not None:
        raise BotError(
            "not_passed_through",
            "this bot is written for another runner and speaks to its caller itself, but the caller was not passed "
            "through to it; use the botcli that this package came with",
        )
    return types.RunnerArguments()


def _body_of(body: dict[str, Any]) -> dict[str, Any]:
    """Calls from a room's phone number have the provider's key under the library's name, too."""
    if "dialin_settings" not in body:
        return body
    named = {"daily_api_key": body.get("room_api_key"), "daily_api_url": body.get("room_api_url")}
    return {**{name: value for name, value in named.items() if value is not None}, **body}
