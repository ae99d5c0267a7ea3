"""What a bot imports."""

from __future__ import annotations

from .arguments import (
    RoomRunnerArguments,
    RunnerArguments,
    WebRTCRunnerArguments,
    WebSocketRunnerArguments,
)
from .connections import PhoneCall, WebRTCConnection, WebSocketConnection
from .dialin import DialinRequest, DialinSettings
from .errors import BotError, SetupError
from .launch import main
from .rtvi import Rtvi
from .rtvi_inbox import RtviRequest, TypedText
from .transport import Transport
from .transport_factory import create_transport
from .transport_ids import TRANSPORT_IDS, TransportId
from .transport_types import AudioFrame, ClearResult, EndReason, TransportParams

__all__ = [
    "TRANSPORT_IDS",
    "AudioFrame",
    "BotError",
    "ClearResult",
    "DialinRequest",
    "DialinSettings",
    "EndReason",
    "PhoneCall",
    "RoomRunnerArguments",
    "Rtvi",
    "RtviRequest",
    "RunnerArguments",
    "SetupError",
    "Transport",
    "TransportId",
    "TransportParams",
    "TypedText",
    "WebRTCConnection",
    "WebRTCRunnerArguments",
    "WebSocketConnection",
    "WebSocketRunnerArguments",
    "create_transport",
    "main",
]
