"""How a caller says that it is an evaluation."""

from __future__ import annotations

import json


def is_eval_connect(message: str | bytes) -> bool:
    """Whether this is the message by which the library's harness introduces itself, read as the library reads it."""
    try:
        source = json.loads(message)
    except (ValueError, RecursionError):
        return False
    if not isinstance(source, dict) or source.get("label") != "rtvi-ai" or source.get("type") != "client-message":
        return False
    data = source.get("data")
    return isinstance(data, dict) and data.get("t") == "eval-connect"
