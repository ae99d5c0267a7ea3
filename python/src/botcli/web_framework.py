"""What bots expect of the web framework that other runners are made with, whether it is installed or not."""

from __future__ import annotations

import enum
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from .connections import WebSocketConnection


class WebFramework(NamedTuple):
    """What bots compare with, catch and ask: the framework's own where it is installed."""

    state: Any
    disconnect: type[Exception]
    #: What is raised when a socket is used that is closed.
    closed: type[RuntimeError]
    #: Makes an object with the attributes of a request.
    facts: Any


class WebSocketDisconnect(Exception):
    """The caller left, where the framework is not installed."""

    def __init__(self, code: int = 1000, reason: str | None = None) -> None:
        super().__init__(code, reason)
        self.code = code
        self.reason = reason or ""


class WebSocketState(enum.Enum):
    """How a socket is, where the framework is not installed."""

    CONNECTING = 0
    CONNECTED = 1
    DISCONNECTED = 2
    RESPONSE = 3


class _Client(NamedTuple):
    host: str
    port: int


class _PlainFacts:
    """What a request says, where the framework is not installed."""

    def __init__(self, scope: dict[str, Any]) -> None:
        # Names are in lower case, which is how nearly everybody asks for them.
        self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        self.query_params = dict(parse_qsl(scope["query_string"].decode()))
        query = scope["query_string"].decode()
        self.url = urlsplit(f"ws://{self.headers.get('host', 'localhost')}{scope['path']}{'?' if query else ''}{query}")
        self.client = _Client(*scope["client"])
        self.path_params: dict[str, Any] = {}
        self.cookies: dict[str, str] = {}


def web_framework() -> WebFramework:
    """The framework, or what stands in for it."""
    try:
        from starlette import websockets
        from starlette.requests import HTTPConnection
    except ImportError:
        return WebFramework(WebSocketState, WebSocketDisconnect, RuntimeError, _PlainFacts)
    # Newer versions have a name of their own for it.
    closed = getattr(websockets, "WebSocketDisconnected", RuntimeError)
    return WebFramework(websockets.WebSocketState, websockets.WebSocketDisconnect, closed, HTTPConnection)


def request_scope(connection: WebSocketConnection) -> dict[str, Any]:
    """The request as the framework's servers tell it."""
    headers = [
        (name.lower().encode("latin-1", "replace"), value.encode("latin-1", "replace"))
        for name, value in connection.headers.items()
    ]
    return {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "scheme": "ws",
        "path": connection.path,
        "raw_path": connection.path.encode(),
        "root_path": "",
        "query_string": connection.query.encode(),
        "headers": headers,
        "client": (connection.remote_address, 0),
        "server": None,
        "subprotocols": [],
        "state": {},
    }
