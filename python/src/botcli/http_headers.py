"""Headers of HTTP requests and answers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

#: How many go with one request or answer, and how many characters they have in all.
MAX_HEADERS = 100
MAX_HEADER_CHARS = 32 * 1024

_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")

HeaderPairs = tuple[tuple[str, str], ...]


class Headers(Mapping[str, str]):
    """Values by name, in any case. One that came several times has its values joined; `pairs` has all as they came."""

    __slots__ = ("_values", "pairs")

    def __init__(self, source: Mapping[str, str] | Iterable[tuple[str, str]] = ()) -> None:
        self.pairs = pairs_of(source)
        self._values: dict[str, str] = {}
        for name, value in self.pairs:
            key = name.lower()
            joint = "; " if key == "cookie" else ", "
            self._values[key] = f"{self._values[key]}{joint}{value}" if key in self._values else value

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        # Values may be keys.
        return f"Headers of {', '.join(self._values) or 'nothing'}"


def pairs_of(source: Mapping[str, str] | Iterable[tuple[str, str]]) -> HeaderPairs:
    """Names with values, in their order."""
    if isinstance(source, Headers):
        return source.pairs
    pairs: Iterable[Any] = source.items() if isinstance(source, Mapping) else source
    return tuple((name, value) for name, value in pairs)


def header_problem(pairs: tuple[tuple[object, object], ...]) -> str | None:
    """What is wrong with headers, if anything is. Values are not repeated, since they may be keys."""
    if len(pairs) > MAX_HEADERS:
        return f"there may be {MAX_HEADERS} headers, but there are {len(pairs)}"
    chars = 0
    for name, value in pairs:
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            return f"{name!r} is not the name of a header; it has letters, digits and !#$%&'*+-.^_`|~ only"
        if not isinstance(value, str):
            return f"the header {name} is of type {type(value).__name__}; it must be text"
        if _VALUE.fullmatch(value) is None:
            return f"the header {name} has a line break, or another character that is neither printable nor of Latin-1"
        chars += len(name) + len(value)
    if chars > MAX_HEADER_CHARS:
        return f"headers may have {MAX_HEADER_CHARS} characters in all, but have {chars}"
    return None
