"""The host's end of a link, written after docs/link-protocol.md and not after the package."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
import struct
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

#: How long a test waits for something that must happen.
WAIT_S = 45.0

START: dict[str, Any] = {
    "sessionId": "session-1",
    "transport": "webrtc",
    "body": {"name": "Ada"},
    "webrtc": {"pcId": "peer-1"},
}


async def until(look: Callable[[], T | None], what: str = "what was waited for") -> T:
    """Waits until something is there."""
    for _ in range(int(WAIT_S / 0.005)):
        found = look()
        if found is not None and found is not False:
            return found
        await asyncio.sleep(0.005)
    raise AssertionError(f"{what} did not come within {WAIT_S} s")


class Answer:
    """What a bot has answered to a request: a response or an error."""

    def __init__(self, message: dict[str, Any]) -> None:
        self.error: dict[str, Any] | None = message.get("error")
        response = message.get("response", {})
        self.status: int | None = response.get("status")
        self.headers: list[list[str]] = response.get("headers", [])
        self.body = base64.b64decode(response.get("body", ""), validate=True)


class Host:
    """Records all that a guest says, and holds it to the rules of credit and epochs."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer
        self.messages: list[dict[str, Any]] = []
        self.sound: list[tuple[int, bytes]] = []
        self.heard: list[int] = []
        #: What the bot said to its caller's socket, where that is passed through.
        self.socket: list[str | bytes] = []
        #: Whether the caller takes what the bot says at once. If not, `take` says how much it has taken.
        self.takes_at_once = True
        self._taken = 0
        self.violations: list[str] = []
        self.closed = asyncio.Event()
        self._out_rate = 0
        self._epoch = 0
        self._sent = 0
        self._limit = 0
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def on(cls, sock: socket.socket) -> Host:
        return cls(*await asyncio.open_unix_connection(sock=sock))

    def send(self, type: str, **fields: Any) -> None:
        self._frame(1, json.dumps({"type": type, **fields}).encode())

    def say(self, data: Any) -> None:
        self.send("message", data=data)

    def start(self, **changes: Any) -> None:
        self.send("start", start={**START, **changes})

    def audio_in(self, at: int, audio: bytes) -> None:
        self._frame(2, struct.pack(">I", at) + audio)

    def playback(self, epoch: int, played: int, limit: int) -> None:
        if epoch == self._epoch:
            self._limit = limit
        self._frame(4, struct.pack(">III", epoch, played, limit))

    def pass_on(self, data: str | bytes) -> None:
        """A message of the caller's socket."""
        self._frame(6 if isinstance(data, str) else 7, data.encode() if isinstance(data, str) else data)

    def take(self, count: int) -> None:
        """The caller's socket has taken so many messages of the bot in all."""
        self._taken = count
        self._frame(5, struct.pack(">I", count))

    def ask(
        self, id: int, path: str = "/", *, method: str = "GET", query: str = "", body: bytes = b"", **headers: str
    ) -> None:
        """Somebody's request to the bot."""
        pairs = [[name.replace("_", "-"), value] for name, value in headers.items()]
        request = {"method": method, "path": path, "query": query, "headers": pairs}
        self.send("request", id=id, request={**request, "body": base64.b64encode(body).decode()})

    async def answer(self, id: int) -> Answer:
        """What the bot answers to a request."""

        def look() -> dict[str, Any] | None:
            found = [m for m in self.messages if m["type"] == "response" and m["id"] == id]
            if len(found) > 1:
                raise AssertionError(f"the guest answered {id} {len(found)} times")
            return found[0] if found else None

        return Answer(await until(look, f"an answer to {id}"))

    def raw(self, data: bytes) -> None:
        self._writer.write(data)

    def cancel(self, deadline_ms: int = 5000) -> None:
        self.send("cancel", cause="client_left", message="the caller left", deadlineMs=deadline_ms)

    async def drain(self) -> None:
        await self._writer.drain()

    async def message(self, type: str) -> dict[str, Any]:
        """The first message of a type."""

        def look() -> dict[str, Any] | None:
            found = next((m for m in self.messages if m["type"] == type), None)
            if found is None and self.closed.is_set():
                raise AssertionError(f"the guest closed the link without {type}")
            return found

        return await until(look, type)

    async def settled(self) -> None:
        """Returns when the guest has worked off all that was sent before."""
        id = sum(m["type"] == "pong" for m in self.messages)
        self.send("ping", id=id)
        await until(lambda: any(m["type"] == "pong" and m["id"] == id for m in self.messages) or None, "pong")

    @property
    def said(self) -> list[Any]:
        """The application messages so far."""
        return [m["data"] for m in self.messages if m["type"] == "message"]

    async def close(self) -> None:
        self._writer.close()
        self._reading.cancel()
        await asyncio.wait({self._reading})

    def _frame(self, kind: int, payload: bytes) -> None:
        self._writer.write(struct.pack(">BI", kind, len(payload)) + payload)

    async def _read(self) -> None:
        try:
            while True:
                kind, length = struct.unpack(">BI", await self._reader.readexactly(5))
                self._take(kind, await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            self.closed.set()

    def _take(self, kind: int, payload: bytes) -> None:
        if kind == 1:
            message = json.loads(payload)
            self.messages.append(message)
            if message["type"] == "format":
                self._out_rate = message["outputRate"]
            elif message["type"] == "clear":
                if message["epoch"] != self._epoch + 1:
                    self.violations.append(f"clear to {message['epoch']} after {self._epoch}")
                self._epoch, self._sent, self._limit = message["epoch"], 0, 0
        elif kind == 3:
            self._take_sound(struct.unpack(">I", payload[:4])[0], payload[4:])
        elif kind == 5:
            self.heard.append(struct.unpack(">I", payload)[0])
        elif kind == 6:
            self._take_socket(payload.decode(), len(payload))
        elif kind == 7:
            self._take_socket(payload, len(payload))
        else:
            self.violations.append(f"a frame of kind {kind}")

    def _take_socket(self, data: str | bytes, size: int) -> None:
        ahead = self.socket[self._taken :]
        total = size + sum(len(each.encode() if isinstance(each, str) else each) for each in ahead)
        if len(ahead) >= 100 or (ahead and total > 1024 * 1024):
            self.violations.append(f"{len(ahead) + 1} messages of {total} bytes ahead of the caller")
        self.socket.append(data)
        if self.takes_at_once:
            self.take(len(self.socket))

    def _take_sound(self, epoch: int, audio: bytes) -> None:
        self.sound.append((epoch, audio))
        samples = len(audio) // 2
        if epoch != self._epoch:
            self.violations.append(f"sound of epoch {epoch} in {self._epoch}")
        if samples * 10 > self._out_rate:
            self.violations.append(f"{samples} samples in one frame")
        self._sent += samples
        if self._sent > self._limit:
            self.violations.append(f"{self._sent} samples sent, {self._limit} granted")
