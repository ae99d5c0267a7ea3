"""What somebody asks of a bot by HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from .http_headers import Headers

#: The longest body of a request, and of its answer.
MAX_BODY_BYTES = 512 * 1024


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request to this session."""

    method: str
    #: What follows the session in the address, as it was spelled, from its first slash on.
    path: str
    #: What follows the question mark, as it was spelled.
    query: str = ""
    headers: Headers = field(default_factory=Headers, repr=False)
    body: bytes = field(default=b"", repr=False)

    @property
    def params(self) -> dict[str, str]:
        """The query by names. Of a name that comes several times, the last one counts."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    def text(self) -> str:
        """The body as text. What is not UTF-8 in it is replaced."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """The body as JSON; a `ValueError` when it is none."""
        return json.loads(self.body)
