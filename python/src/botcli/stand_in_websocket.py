"""An object that behaves like the WebSocket of the web framework that other runners hand to their bots."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from .connections import WebSocketConnection
from .eval_connect import is_eval_connect
from .passed_socket import NORMAL, PassedSocket
from .web_framework import request_scope, web_framework

#: What the framework says of a peer that is gone.
_ABNORMAL = 1006
#: What a caller is told that is not let in.
_REFUSED = 1008
#: A close goes behind what the bot has sent without awaiting it, if the caller takes that soon.
FLUSH_S = 2.0


class StandInWebSocket:
    """A caller's socket, accepted already. Its address, headers and the like are attributes, too."""

    def __init__(self, socket: PassedSocket, connection: WebSocketConnection, *, evals: bool = True) -> None:
        self._socket = socket
        #: Whether the first message may make this an evaluation.
        self._unchecked = not evals
        self._framework = web_framework()
        self.scope = request_scope(connection)
        self._facts: Any = self._framework.facts(self.scope)
        self.client_state = self._framework.state.CONNECTED
        self.application_state = self._framework.state.CONNECTED

    def __repr__(self) -> str:
        return f"<WebSocket of the caller at {self.scope['path']}>"

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
            raise self._framework.closed('Cannot call "receive" once a disconnect message has been received.')
        message = await self._socket.receive()
        if message is not None and self._unchecked:
            self._unchecked = False
            # The runner lets none through; if one came all the same, it would be in without having been asked.
            if is_eval_connect(message):
                self._socket.close(_REFUSED, "This session is no eval.")
                message = None
        if message is None:
            self.client_state = self._framework.state.DISCONNECTED
            code, reason = self._socket.close_code, self._socket.close_reason
            return {"type": "websocket.disconnect", "code": code, "reason": reason}
        return {"type": "websocket.receive", "text" if isinstance(message, str) else "bytes": message}

    async def receive_text(self) -> str:
        """The next message, which has to be text."""
        text: str = (await self._message())["text"]
        return text

    async def receive_bytes(self) -> bytes:
        """The next message, which has to be bytes."""
        data: bytes = (await self._message())["bytes"]
        return data

    async def receive_json(self, mode: str = "text") -> Any:
        """The next message as JSON, from text or from bytes."""
        _check_mode(mode)
        message = await self._message()
        return json.loads(message["text"] if mode == "text" else message["bytes"].decode())

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
            await self._close(message.get("code", NORMAL), message.get("reason") or "")
        elif message["type"] == "websocket.send":
            text = message.get("text")
            await self._send(message["bytes"] if text is None else text)

    async def send_text(self, data: str) -> None:
        """Sends text; returns when it is on its way, which takes as long as the caller is slow."""
        await self._send(data)

    async def send_bytes(self, data: bytes) -> None:
        """Sends bytes; returns when they are on their way, which takes as long as the caller is slow."""
        await self._send(bytes(data))

    async def send_json(self, data: Any, mode: str = "text") -> None:
        """Sends JSON, as text or as bytes."""
        _check_mode(mode)
        text = json.dumps(data, separators=(",", ":"), ensure_ascii=False)
        await self._send(text.encode() if mode == "binary" else text)

    async def close(self, code: int = NORMAL, reason: str | None = None) -> None:
        """Closes the caller's socket."""
        await self._close(code, reason or "")

    async def _message(self) -> dict[str, Any]:
        """The next message, under the name of its kind. Asking for the other kind is a KeyError, as in the framework."""
        if self.application_state != self._framework.state.CONNECTED:
            raise self._framework.closed('WebSocket is not connected. Need to call "accept" first.')
        event = await self.receive()
        if event["type"] == "websocket.disconnect":
            raise self._framework.disconnect(event["code"], event["reason"])
        return event

    async def _send(self, data: str | bytes) -> None:
        self._check_open()
        if not await self._socket.send(data):
            self.application_state = self._framework.state.DISCONNECTED
            raise self._framework.disconnect(_ABNORMAL)

    async def _close(self, code: int, reason: str) -> None:
        self._check_open()
        self.application_state = self._framework.state.DISCONNECTED
        try:
            await asyncio.wait_for(self._socket.flushed(), FLUSH_S)
        except TimeoutError:
            pass
        finally:
            self._socket.close(code, reason)

    def _check_open(self) -> None:
        if self.application_state == self._framework.state.DISCONNECTED:
            raise self._framework.closed('Cannot call "send" once a close message has been sent.')


def _check_mode(mode: str) -> None:
    if mode not in ("text", "binary"):
        raise RuntimeError('The "mode" argument should be "text" or "binary".')
