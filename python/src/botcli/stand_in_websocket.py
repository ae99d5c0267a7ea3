"""An object that behaves like the WebSocket of the web framework that other runners hand to their bots."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from .connections import WebSocketConnection
from .passed_socket import NORMAL, PassedSocket
from .web_framework import request_scope, web_framework

#: What the framework says of a peer that is gone.
_ABNORMAL = 1006


class StandInWebSocket:
    """A caller's socket, accepted already. Its address, headers and the like are attributes, too."""

    def __init__(self, socket: PassedSocket, connection: WebSocketConnection) -> None:
        self._socket = socket
        self._framework = web_framework()
        self.scope = request_scope(connection)
        self._facts: Any = self._framework.facts(self.scope)
        self.client_state = self._framework.state.CONNECTED
        self.application_state = self._framework.state.CONNECTED

    def __getattr__(self, name: str) -> Any:
        # `headers`, `url`, `query_params`, `client` and whatever else follows from the request.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return getattr(self._facts, name)

    async def accept(
        self, subprotocol: str | None = None, headers: Iterable[tuple[bytes, bytes]] | None = None
    ) -> None:
        """Does nothing, as the socket was accepted before the bot was called."""

    async def receive(self) -> dict[str, Any]:
        """The next event, as the framework's server tells it."""
        if self.client_state != self._framework.state.CONNECTED:
            raise RuntimeError('Cannot call "receive" once a disconnect message has been received.')
        message = await self._socket.receive()
        if message is None:
            self.client_state = self._framework.state.DISCONNECTED
            code, reason = self._socket.close_code, self._socket.close_reason
            return {"type": "websocket.disconnect", "code": code, "reason": reason}
        return {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}

    async def receive_text(self) -> str:
        """The next message as text."""
        message = await self._message()
        return message if isinstance(message, str) else message.decode()

    async def receive_bytes(self) -> bytes:
        """The next message as bytes."""
        message = await self._message()
        return message.encode() if isinstance(message, str) else message

    async def receive_json(self, mode: str = "text") -> Any:
        """The next message as JSON."""
        return json.loads(await self._message())

    async def iter_text(self) -> AsyncIterator[str]:
        """All messages as text, until the caller leaves."""
        try:
            while True:
                yield await self.receive_text()
        except self._framework.disconnect:
            pass

    async def iter_bytes(self) -> AsyncIterator[bytes]:
        """All messages as bytes, until the caller leaves."""
        try:
            while True:
                yield await self.receive_bytes()
        except self._framework.disconnect:
            pass

    async def iter_json(self) -> AsyncIterator[Any]:
        """All messages as JSON, until the caller leaves."""
        try:
            while True:
                yield await self.receive_json()
        except self._framework.disconnect:
            pass

    async def send(self, message: Mapping[str, Any]) -> None:
        """Sends an event, as the framework's server takes it."""
        if message["type"] == "websocket.close":
            self._close(message.get("code", NORMAL), message.get("reason") or "")
        elif message["type"] == "websocket.send":
            text = message.get("text")
            await self._send(message["bytes"] if text is None else text)

    async def send_text(self, data: str) -> None:
        """Sends text; returns when there is room for more."""
        await self._send(data)

    async def send_bytes(self, data: bytes) -> None:
        """Sends bytes; returns when there is room for more."""
        await self._send(bytes(data))

    async def send_json(self, data: Any, mode: str = "text") -> None:
        """Sends JSON, as text or as bytes."""
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
        await self._send(text.encode() if mode == "binary" else text)

    async def close(self, code: int = NORMAL, reason: str | None = None) -> None:
        """Closes the caller's socket."""
        self._close(code, reason or "")

    async def _message(self) -> str | bytes:
        event = await self.receive()
        if event["type"] == "websocket.disconnect":
            raise self._framework.disconnect(event["code"], event["reason"])
        message: str | bytes = event["text"] if "text" in event else event["bytes"]
        return message

    async def _send(self, data: str | bytes) -> None:
        self._check_open()
        if self._socket.closed:
            self.application_state = self._framework.state.DISCONNECTED
            raise self._framework.disconnect(_ABNORMAL)
        await self._socket.send(data)

    def _close(self, code: int, reason: str) -> None:
        self._check_open()
        self.application_state = self._framework.state.DISCONNECTED
        self._socket.close(code, reason)

    def _check_open(self) -> None:
        if self.application_state == self._framework.state.DISCONNECTED:
            raise RuntimeError('Cannot call "send" once a close message has been sent.')
