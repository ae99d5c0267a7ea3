"""What a bot imports."""

from __future__ import annotations

from .arguments import (
    RoomRunnerArguments,
    RunnerArguments,
    WebRTCRunnerArguments,
    WebSocketRunnerArguments,
)
from .asgi_app import asgi
from .connections import PhoneCall, WebRTCConnection, WebSocketConnection
from .dialin import DialinRequest, DialinSettings
from .errors import BotError, SetupError
from .http_headers import Headers
from .http_request import HttpRequest
from .http_response import HttpResponse
from .launch import main
from .rtvi import Rtvi
from .rtvi_inbox import RtviRequest, TypedText
from .serving import serve
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
    "Headers",
    "HttpRequest",
    "HttpResponse",
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
    "asgi",
    "create_transport",
    "main",
    "serve",
]
