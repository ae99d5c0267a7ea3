"""Keys of a telephone."""

from __future__ import annotations

import re

_KEYS = re.compile(r"[0-9A-D*#]{1,64}")


def is_keys(value: object) -> bool:
    """Whether a value is text of 1 to 64 keys of a telephone: `0`-`9`, `*`, `#`, `A`-`D`."""
    return isinstance(value, str) and _KEYS.fullmatch(value) is not None
