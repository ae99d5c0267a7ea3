"""Answers of a bot, spelled for the link."""

from __future__ import annotations

import base64
import json
from typing import Any, TypedDict

from .errors import BotError
from .http_headers import HeaderPairs, header_problem, pairs_of
from .http_request import MAX_BODY_BYTES
from .http_response import HttpResponse
from .outgoing_message import utf8

#: Statuses whose answers have no body.
_BARE = (204, 205, 304)


class SpelledResponse(TypedDict):
    """An answer as it crosses the link."""

    status: int
    headers: list[tuple[str, str]]
    body: str


def spell_response(result: object) -> SpelledResponse:
    """What a handler gave as an answer. Raises when it can be none: better than that somebody waits for it in vain."""
    response = _response_of(result)
    status = _status(response.status)
    body, kind = _body(response.body)
    check_length(len(body))
    if body and status in _BARE:
        raise _invalid(f"an answer with the status {status} has no body, but this one has {len(body)} bytes")
    headers = _headers(response)
    if kind is not None and not any(name.lower() == "content-type" for name, _ in headers):
        headers = (("content-type", kind), *headers)
    return {"status": status, "headers": list(headers), "body": base64.b64encode(body).decode()}


def check_length(length: int) -> None:
    """Raises for a body that is too long."""
    if length > MAX_BODY_BYTES:
        raise _invalid(f"the body of an answer may have {MAX_BODY_BYTES} bytes; this one has {length}")


def _response_of(result: object) -> HttpResponse:
    if isinstance(result, HttpResponse):
        return result
    if result is None:
        return HttpResponse(204)
    if isinstance(result, (dict, list, str, bytes)):
        return HttpResponse(body=result)
    raise _invalid(
        f"the handler gave {type(result).__module__}.{type(result).__qualname__}; "
        "it must give HttpResponse, dict, list, str, bytes or None"
    )


def _status(status: Any) -> int:
    if isinstance(status, int) and not isinstance(status, bool) and 200 <= status <= 599:
        return int(status)
    raise _invalid(f"the status of an answer is a whole number from 200 to 599; this one is {status!r}")


def _body(body: Any) -> tuple[bytes, str | None]:
    """The bytes, and what they are."""
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body), "application/octet-stream" if body else None
    if body is None:
        return b"", None
    if isinstance(body, str):
        try:
            return body.encode(), "text/plain; charset=utf-8"
        except UnicodeEncodeError as cause:
            raise _invalid(f"the text of an answer has a character that no UTF-8 has: {cause}") from cause
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as cause:
        raise _invalid(f"the body of an answer must be bytes, text or JSON: {cause}") from cause
    return utf8(text, body), "application/json"


def _headers(response: HttpResponse) -> HeaderPairs:
    try:
        pairs = pairs_of(response.headers)
    except (TypeError, ValueError) as cause:
        raise _invalid("the headers of an answer are a dictionary, or a list of pairs of name and value") from cause
    problem = header_problem(pairs)
    if problem is not None:
        raise _invalid(f"an answer has headers that it cannot have: {problem}")
    return pairs


def _invalid(message: str) -> BotError:
    return BotError("invalid_response", message)
