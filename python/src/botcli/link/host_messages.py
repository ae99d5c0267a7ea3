"""What a host says, as control messages."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from ..http_request import HttpRequest
from ..outgoing_message import MAX_JSON_DEPTH, is_shallow
from .bot_request import bot_request_of
from .bot_start import BotStart, bot_start_of
from .fields import count_field, flag_field, int_field, list_field, object_field, text_field
from .frames import LinkProtocolError


@dataclass(frozen=True, slots=True)
class Refused:
    """The versions differ."""

    message: str


@dataclass(frozen=True, slots=True)
class Start:
    """A session begins."""

    start: BotStart


@dataclass(frozen=True, slots=True)
class Connected:
    """The caller's wire is up."""


@dataclass(frozen=True, slots=True)
class Disconnected:
    """The caller's wire is down for now."""


@dataclass(frozen=True, slots=True)
class Cleared:
    """Answer to a clear."""

    epoch: int
    played_samples: int


@dataclass(frozen=True, slots=True)
class Message:
    """An application message of the client."""

    data: Any


@dataclass(frozen=True, slots=True)
class Dtmf:
    """Keys that the caller pressed."""

    keys: str


@dataclass(frozen=True, slots=True)
class Ping:
    """The host wants to hear from the guest."""

    id: int


@dataclass(frozen=True, slots=True)
class Cancel:
    """The session is over."""

    cause: str
    message: str
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class SocketClosed:
    """The caller's socket is closed, by the caller or because it broke."""

    code: int
    reason: str


@dataclass(frozen=True, slots=True)
class Offer:
    """The caller wants a peer connection, or another shape of the one that is there."""

    id: int
    sdp: str
    #: Whether the caller has begun anew.
    restart: bool


@dataclass(frozen=True, slots=True)
class IceCandidate:
    """Where the caller may be reached. An empty candidate says that there are no more."""

    candidate: str
    mid: str


@dataclass(frozen=True, slots=True)
class Candidates:
    """More places where the caller may be reached."""

    candidates: tuple[IceCandidate, ...]


@dataclass(frozen=True, slots=True)
class Request:
    """Somebody asks the bot something by HTTP."""

    id: int
    request: HttpRequest


HostMessage = (
    Refused
    | Start
    | Connected
    | Disconnected
    | Cleared
    | Message
    | Dtmf
    | Ping
    | Cancel
    | SocketClosed
    | Offer
    | Candidates
    | Request
)


def parse_host_message(payload: memoryview) -> HostMessage:
    """Reads the payload of a control frame."""
    try:
        source = json.loads(str(payload, "utf-8"), parse_constant=_refuse)
    except (ValueError, RecursionError) as cause:
        raise LinkProtocolError("a control frame does not hold JSON") from cause
    kind = source.get("type") if isinstance(source, dict) else None
    parse = _PARSERS.get(kind) if isinstance(kind, str) else None
    if parse is None:
        raise LinkProtocolError(f"the host sent a control message that is not known: {kind!r}")
    try:
        return parse(source)
    except LinkProtocolError as error:
        raise LinkProtocolError(f"the host sent a {kind!r} message that makes no sense: {error}") from None


def _message(source: dict[str, Any]) -> Message:
    data = source.get("data")
    if not is_shallow(data):
        raise LinkProtocolError(f"data is nested deeper than {MAX_JSON_DEPTH} levels")
    return Message(data)


def _candidates(source: dict[str, Any]) -> Candidates:
    found = list_field(source, "candidates")
    if not all(isinstance(candidate, dict) for candidate in found):
        raise LinkProtocolError("a candidate is not an object")
    return Candidates(tuple(IceCandidate(text_field(each, "candidate"), text_field(each, "mid")) for each in found))


_PARSERS: dict[str, Callable[[dict[str, Any]], HostMessage]] = {
    "refused": lambda source: Refused(text_field(source, "message")),
    "start": lambda source: Start(bot_start_of(object_field(source, "start"))),
    "connected": lambda source: Connected(),
    "disconnected": lambda source: Disconnected(),
    "cleared": lambda source: Cleared(count_field(source, "epoch"), count_field(source, "playedSamples")),
    "message": _message,
    "dtmf": lambda source: Dtmf(text_field(source, "keys")),
    "ping": lambda source: Ping(int_field(source, "id")),
    "cancel": lambda source: Cancel(
        text_field(source, "cause"), text_field(source, "message"), count_field(source, "deadlineMs")
    ),
    "socket-closed": lambda source: SocketClosed(int_field(source, "code"), text_field(source, "reason")),
    "offer": lambda source: Offer(int_field(source, "id"), text_field(source, "sdp"), flag_field(source, "restart")),
    "candidates": _candidates,
    "request": lambda source: Request(int_field(source, "id"), bot_request_of(source)),
}


def _refuse(text: str) -> NoReturn:
    """Python reads NaN and Infinity, which are not JSON."""
    raise ValueError(f"{text} is not JSON")
