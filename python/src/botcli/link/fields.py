"""Fields of JSON that came over the link."""

from __future__ import annotations

from typing import Any

from .frames import LinkProtocolError

_MISSING = object()


def text_field(source: dict[str, Any], name: str) -> str:
    """A field that must be text."""
    value = source.get(name, _MISSING)
    if isinstance(value, str):
        return value
    raise _wrong(name, "text", value)


def int_field(source: dict[str, Any], name: str) -> int:
    """A field that must be a whole number."""
    value = source.get(name, _MISSING)
    # JSON of another language may spell a whole number as 5.0, and Python takes true for 1.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _wrong(name, "a whole number", value)


def count_field(source: dict[str, Any], name: str) -> int:
    """A field that must be a whole number, and not below zero."""
    value = int_field(source, name)
    if value < 0:
        raise LinkProtocolError(f"{name} is below zero")
    return value


def object_field(source: dict[str, Any], name: str) -> dict[str, Any]:
    """A field that must be an object."""
    value = source.get(name, _MISSING)
    if isinstance(value, dict):
        return value
    raise _wrong(name, "an object", value)


def list_field(source: dict[str, Any], name: str) -> list[Any]:
    """A field that must be a list."""
    value = source.get(name, _MISSING)
    if isinstance(value, list):
        return value
    raise _wrong(name, "a list", value)


def flag_field(source: dict[str, Any], name: str) -> bool:
    """A field that is true or false; false when it is not there."""
    value = source.get(name, False)
    if isinstance(value, bool):
        return value
    raise _wrong(name, "true or false", value)


def optional_text(source: dict[str, Any], name: str) -> str | None:
    """A field that is text or not there."""
    return text_field(source, name) if name in source else None


def _wrong(name: str, wanted: str, value: object) -> LinkProtocolError:
    return LinkProtocolError(f"{name} is missing" if value is _MISSING else f"{name} is not {wanted}")
