"""Makes the transport of a session."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from difflib import get_close_matches
from typing import Any, overload

from .errors import BotError
from .foreign import foreign_transport
from .session_port import SessionPort, session_of
from .transport import Transport
from .transport_ids import TRANSPORT_IDS
from .transport_types import TransportParams

#: What the transports are called where bots may come from.
_THEIRS = {
    "daily": "room",
    "twilio": "telephony_a",
    "telnyx": "telephony_b",
    "plivo": "telephony_c",
    "exotel": "telephony_d",
}

#: What a bot wants from each transport that it serves. A factory may be async; only the one that is needed is called.
TransportFactories = Mapping[str, Callable[[], TransportParams | Awaitable[TransportParams]]]


@overload
async def create_transport(args: object, factories: TransportFactories) -> Transport: ...
@overload
async def create_transport(args: object, factories: Mapping[str, Callable[[], Any]]) -> Any: ...
async def create_transport(args: object, factories: Mapping[str, Callable[[], Any]]) -> Any:
    """Makes the transport of this session: a `Transport` where the factory gives `TransportParams`, and the other
    library's transport where it gives that library's parameters.

    Set listeners right after it, without another `await`: whatever the client sent before is delivered then.

        transport = await create_transport(args, {"webrtc": TransportParams, "telephony_a": lambda: params})
    """
    port = session_of(args)
    if port is None:
        raise BotError(
            "unknown_session",
            "create_transport() does not know these arguments; "
            "hand it the very object that bot(args) was called with, not a copy",
        )
    _check_names(factories)
    factory = factories.get(port.start.transport)
    params = None if factory is None else factory()
    if inspect.isawaitable(params):
        params = await params
    _check(port)
    if isinstance(params, TransportParams):
        if port.start.transport == "room":
            raise _no_room()
        if port.start.transport == "eval":
            raise _no_evals()
        return Transport(port, _checked(params))
    if params is not None:
        transport = await foreign_transport(port, params)
        if transport is None:
            raise _unknown_params(port.start.transport, params)
        return transport
    if port.start.transport == "room":
        raise _no_room()
    if port.start.transport == "eval":
        raise _no_evals()
    if factory is not None:
        raise _unknown_params(port.start.transport, params)
    raise BotError(
        "transport_not_offered",
        f"the caller uses {port.start.transport!r}, which this bot does not serve "
        f"(it serves: {', '.join(factories) or 'none'}); "
        f'add "{port.start.transport}": TransportParams to the second argument of create_transport()',
    )


def _check_names(factories: Mapping[str, object]) -> None:
    """A name that no caller can have is a mistake, which would be noticed only when somebody calls."""
    for name in factories:
        if name in TRANSPORT_IDS or name == "eval":
            continue
        near = _THEIRS.get(name) or next(iter(get_close_matches(name, TRANSPORT_IDS, 1)), None)
        hint = f"; did you mean {near!r}?" if near else "."
        raise BotError(
            "invalid_params",
            f"{name!r} is not the name of a transport{hint} There are {', '.join(TRANSPORT_IDS)} and eval",
        )


def _check(port: SessionPort) -> None:
    if port.end_reason is not None:
        text = f"no transport can be made, the session is over: {port.end_reason.message}"
        raise BotError("session_ended", text)
    if port.attached:
        raise BotError("transport_exists", "create_transport() was called twice; a session has one transport")


def _checked(params: TransportParams) -> TransportParams:
    for name in ("audio_in_sample_rate", "audio_out_sample_rate"):
        rate = getattr(params, name)
        # Sound travels in pieces of 20 ms, which must be whole samples.
        if not isinstance(rate, int) or not 8000 <= rate <= 48_000 or rate % 50 != 0:
            raise BotError(
                "invalid_params",
                f"{name} is {rate!r}; it must be a multiple of 50 from 8000 to 48000, "
                "such as 8000, 16000, 24000 or 48000",
            )
    return params


def _no_room() -> BotError:
    return BotError(
        "no_room_transport",
        "this session is in a room of the room provider, which the plain transport cannot join. Use the room transport "
        "of pipecat-ai (DailyTransport, `pip install 'pipecat-ai[daily]'`) with args.room_url and args.token; "
        "or talk to this bot by webrtc, websocket or a phone carrier",
    )


def _no_evals() -> BotError:
    return BotError(
        "transport_not_offered",
        "this session is an evaluation, which speaks to a pipeline of pipecat-ai. "
        'Add "eval": lambda: EvalTransportParams(audio_in_enabled=True) to the second argument of create_transport()',
    )


def _unknown_params(transport: str, params: object) -> BotError:
    kind = f"{type(params).__module__}.{type(params).__qualname__}"
    hint = "; install pipecat-ai into the environment of this bot" if "pipecat" in kind else ""
    return BotError(
        "invalid_params",
        f"the factory for {transport!r} gave {kind}; it must give botcli.TransportParams, "
        f"or the TransportParams of pipecat-ai{hint}",
    )
