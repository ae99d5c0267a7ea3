"""Lets a bot answer HTTP requests to its session."""

from __future__ import annotations

import inspect

from .errors import BotError
from .http_response import RequestHandler
from .session_port import session_of


def serve(args: object, handler: RequestHandler) -> None:
    """Answers the HTTP requests to this session, from now on until it is over. Call it early in `bot`, with the very
    arguments that it got: requests wait for it only in the first seconds.

        async def on_request(request: HttpRequest) -> dict[str, int]:
            return {"turns": turns}

        serve(args, on_request)
    """
    port = session_of(args)
    if port is None:
        raise BotError(
            "unknown_session",
            "serve() does not know these arguments; hand it the very object that bot(args) was called with, not a copy",
        )
    _check(handler)
    port.serve(handler)


def _check(handler: object) -> None:
    """A handler that cannot be called is a mistake, which would be noticed only when somebody asks."""
    hint = "write `async def on_request(request):`, or asgi(app) for an application of a web framework"
    if not callable(handler):
        raise BotError(
            "invalid_handler", f"the handler is of type {type(handler).__name__}, which is no function; {hint}"
        )
    try:
        inspect.signature(handler).bind(object())
    except TypeError as error:
        raise BotError("invalid_handler", f"the handler cannot be called with a request ({error}); {hint}") from None
    except ValueError:
        # Not every callable tells.
        pass
