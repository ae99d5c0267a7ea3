"""A request that the bot is to answer, as the host sends it."""

from __future__ import annotations

import base64
import binascii
from typing import Any

from ..http_headers import HeaderPairs, Headers, header_problem
from ..http_request import MAX_BODY_BYTES, HttpRequest
from .fields import list_field, object_field, text_field
from .frames import LinkProtocolError


def bot_request_of(source: dict[str, Any]) -> HttpRequest:
    """Reads the field `request` of a `request` message."""
    request = object_field(source, "request")
    path, query = text_field(request, "path"), text_field(request, "query")
    if not path.startswith("/"):
        raise LinkProtocolError("path does not begin with a slash")
    if query and not query.startswith("?"):
        raise LinkProtocolError("query does not begin with a question mark")
    return HttpRequest(
        method=text_field(request, "method"),
        path=path,
        query=query[1:],
        headers=Headers(_headers_of(request)),
        body=_body_of(request),
    )


def _headers_of(request: dict[str, Any]) -> HeaderPairs:
    found = list_field(request, "headers")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in found):
        raise LinkProtocolError("a header is not a pair of name and value")
    pairs = tuple((name, value) for name, value in found)
    problem = header_problem(pairs)
    if problem is not None:
        raise LinkProtocolError(problem)
    return pairs


def _body_of(request: dict[str, Any]) -> bytes:
    try:
        body = base64.b64decode(text_field(request, "body"), validate=True)
    except (binascii.Error, ValueError) as cause:
        raise LinkProtocolError("body is not base64") from cause
    if len(body) > MAX_BODY_BYTES:
        raise LinkProtocolError(f"body has more than {MAX_BODY_BYTES} bytes")
    return body
