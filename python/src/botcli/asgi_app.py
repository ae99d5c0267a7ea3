"""Lets an application of a web framework answer the requests of a bot."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from .errors import BotError
from .http_request import HttpRequest
from .http_response import HttpResponse
from .outgoing_response import check_length

AsgiMessage = MutableMapping[str, Any]
#: An application as ASGI 3 has it: FastAPI, Starlette, and others.
AsgiApp = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[AsgiMessage]], Callable[[AsgiMessage], Awaitable[None]]],
    Awaitable[None],
]


def asgi(app: AsgiApp) -> AsgiHandler:
    """Makes a handler of an application: `serve(args, asgi(app))`. Lifespan is not run: what an application needs before
    its first request is for `bot` to do."""
    try:
        inspect.signature(app).bind({}, None, None)
    except (TypeError, ValueError) as cause:
        text = f"asgi() takes an application of ASGI 3, such as FastAPI(); {type(app).__qualname__} is none"
        raise BotError("invalid_handler", text) from cause
    return AsgiHandler(app)


class AsgiHandler:
    """A handler that lets an application answer."""

    __slots__ = ("_app",)

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer, once the application is done: for a handler that gives it some of its requests."""
        answers: list[HttpResponse] = []
        await self.run(request, answers.append)
        return answers[0]

    async def run(self, request: HttpRequest, answer: Callable[[HttpResponse], None]) -> None:
        """Answers as soon as the answer is complete; the application may have more to do after it."""
        exchange = _Exchange(request, answer)
        await self._app(_scope_of(request), exchange.receive, exchange.send)
        if not exchange.complete.is_set():
            text = f"the application returned without a complete answer to {request.method} {request.path}"
            raise BotError("not_answered", text)


class _Exchange:
    """One request, told to an application, and the answer that it gives piece by piece."""

    def __init__(self, request: HttpRequest, answer: Callable[[HttpResponse], None]) -> None:
        self._request = request
        self._answer = answer
        self._told = False
        self._start: AsgiMessage | None = None
        self._body = bytearray()
        self.complete = asyncio.Event()

    async def receive(self) -> AsgiMessage:
        if not self._told:
            self._told = True
            return {"type": "http.request", "body": self._request.body, "more_body": False}
        # Frameworks stop an answer when they hear this, so it must not come before the answer is complete.
        await self.complete.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: AsgiMessage) -> None:
        kind = message["type"]
        if kind == "http.response.start" and self._start is None:
            self._start = message
        elif kind == "http.response.body" and self._start is not None and not self.complete.is_set():
            self._body += message.get("body", b"")
            check_length(len(self._body))
            if not message.get("more_body", False):
                self._answer(_response_of(self._start, bytes(self._body)))
                self.complete.set()
        else:
            text = (
                f"the application sent {kind!r} out of turn; an answer is http.response.start, then http.response.body"
            )
            raise BotError("invalid_response", text)


def _response_of(start: AsgiMessage, body: bytes) -> HttpResponse:
    named = [
        (bytes(name).decode("latin-1"), bytes(value).decode("latin-1")) for name, value in start.get("headers", ())
    ]
    # How an answer is cut into pieces is for the server to say, and here it is whole.
    headers = [(name, value) for name, value in named if name.lower() != "transfer-encoding"]
    return HttpResponse(start["status"], body, headers)


def _scope_of(request: HttpRequest) -> dict[str, Any]:
    """The request as servers of ASGI tell it."""
    return {
        "type": "http",
        # From this version on, frameworks do not stop an answer because nothing more comes from the client.
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method.upper(),
        "scheme": "http",
        "path": unquote(request.path),
        "raw_path": request.path.encode(errors="replace"),
        "root_path": "",
        "query_string": request.query.encode(errors="replace"),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in request.headers.pairs],
        "client": None,
        "server": None,
        "state": {},
        "extensions": {},
    }
