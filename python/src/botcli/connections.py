"""The caller's wire, as far as a bot may know it: media itself lives in another process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WebRTCConnection:
    """The caller's peer connection."""

    pc_id: str


@dataclass(frozen=True, slots=True)
class WebSocketConnection:
    """The caller's WebSocket."""

    path: str
    remote_address: str
    #: Plain headers of the request, where the bot speaks to its caller itself.
    headers: Mapping[str, str] = field(default_factory=dict)
    #: What the caller put behind the path, there too; without what let it in.
    query: str = ""


@dataclass(frozen=True, slots=True)
class PhoneCall:
    """A phone call, as its carrier told of it."""

    #: The carrier's own ids.
    call_id: str
    stream_id: str
    #: How the caller's sound comes in: `pcmu`, `pcma` or `l16`, at so many hertz. The bot hears its own rate.
    codec: str
    rate: int
    #: Who calls and who is called, where the carrier or the call's parameters tell.
    from_number: str | None = None
    to_number: str | None = None
    #: What was given to the carrier to be handed on with the call.
    custom: Mapping[str, str] = field(default_factory=dict)
