"""Messages of a bot, spelled for the link."""

from __future__ import annotations

import json

from .errors import BotError

#: The longest message of a bot, as JSON in UTF-8: what every wire carries, with room for what a wire puts around it.
MAX_MESSAGE_BYTES = 255 * 1024
#: Far more than anybody needs, and far less than what a stack can hold.
MAX_JSON_DEPTH = 100


def spell_message(message: object) -> bytes:
    """A message as JSON. Raises when it cannot reach every client: better than that its client learns it by silence."""
    try:
        text = json.dumps(message, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as cause:
        raise BotError("invalid_message", f"a message must be JSON: {cause}") from cause
    # Only what has many brackets can be deep.
    if text.count("{") + text.count("[") > MAX_JSON_DEPTH and not is_shallow(message):
        raise BotError("invalid_message", "a message may be nested 100 levels deep; this one is deeper")
    spelled = utf8(text, message)
    if len(spelled) > MAX_MESSAGE_BYTES:
        raise BotError(
            "invalid_message",
            f"a message may have {MAX_MESSAGE_BYTES} bytes as JSON; this one has {len(spelled)}. Send it in parts",
        )
    return spelled


def is_shallow(value: object, levels: int = MAX_JSON_DEPTH) -> bool:
    """Whether JSON is flat enough to be handed on."""
    if isinstance(value, dict):
        return levels > 0 and all(is_shallow(inner, levels - 1) for inner in value.values())
    if isinstance(value, (list, tuple)):
        return levels > 0 and all(is_shallow(inner, levels - 1) for inner in value)
    return True


def utf8(text: str, value: object) -> bytes:
    """JSON as bytes. Half a character of UTF-16, which has no UTF-8, is escaped."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
