"""What a bot answers to a request."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .http_request import HttpRequest


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer with everything that one can have: `HttpResponse(404, "there is no such note")`."""

    #: From 200 to 599.
    status: int = 200
    #: `bytes`, text, or a value that becomes JSON. Without a header `content-type` it gets the one that fits.
    body: Any = field(default=b"", repr=False)
    #: By names, or as pairs where one comes several times.
    headers: Mapping[str, str] | Iterable[tuple[str, str]] = field(default=(), repr=False)


#: What a handler gives: an answer, or what becomes one. Nothing at all is 204.
HandlerResult = HttpResponse | dict[str, Any] | list[Any] | str | bytes | None
#: A function of the bot that answers requests, plain or async.
RequestHandler = Callable[[HttpRequest], HandlerResult | Awaitable[HandlerResult]]
