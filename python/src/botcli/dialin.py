"""What a bot finds in `body` when it was started by a caller who dialled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .errors import BotError


@dataclass(frozen=True)
class DialinSettings:
    """The call that waits to be connected to the room. Names as the room provider spells them."""

    call_id: str
    call_domain: str
    From: str | None = None
    To: str | None = None
    sip_headers: Mapping[str, Any] | None = None
    #: Whatever else came along.
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DialinRequest:
    """A caller who dialled in, and what is needed to connect the call."""

    dialin_settings: DialinSettings
    room_api_key: str = field(repr=False)
    room_api_url: str

    @classmethod
    def from_body(cls, body: object) -> DialinRequest:
        """Reads `args.body`; a body of another shape is a `BotError` that names everything that is wrong with it."""
        problems: list[str] = []
        whole = _object(body, "body", problems)
        settings = _object(whole.get("dialin_settings"), "dialin_settings", problems)
        known = DialinSettings(
            call_id=_text(settings, "call_id", problems, "dialin_settings."),
            call_domain=_text(settings, "call_domain", problems, "dialin_settings."),
            From=_optional_text(settings, "From", problems),
            To=_optional_text(settings, "To", problems),
            sip_headers=_headers(settings, problems),
            extra={key: value for key, value in settings.items() if key not in _KNOWN},
        )
        request = cls(
            dialin_settings=known,
            room_api_key=_text(whole, "room_api_key", problems),
            room_api_url=_text(whole, "room_api_url", problems),
        )
        if problems:
            raise BotError("invalid_body", f"body is not a dial-in request: {'; '.join(problems)}")
        return request

    @classmethod
    def model_validate(cls, body: object) -> DialinRequest:
        """The same as `from_body`, by the name that other models have for it."""
        return cls.from_body(body)


_KNOWN = frozenset({"call_id", "call_domain", "From", "To", "sip_headers"})


def _object(value: object, name: str, problems: list[str]) -> Mapping[str, Any]:
    if isinstance(value, Mapping):
        return value
    if not problems:
        problems.append(f"{name} is missing" if value is None else f"{name} is not an object")
    return {}


def _text(source: Mapping[str, Any], name: str, problems: list[str], path: str = "") -> str:
    value = source.get(name)
    if isinstance(value, str) and value != "":
        return value
    problems.append(f"{path}{name} is missing" if value is None else f"{path}{name} is not text")
    return ""


def _optional_text(source: Mapping[str, Any], name: str, problems: list[str]) -> str | None:
    value = source.get(name)
    if value is None or isinstance(value, str):
        return value
    problems.append(f"dialin_settings.{name} is not text")
    return None


def _headers(source: Mapping[str, Any], problems: list[str]) -> Mapping[str, Any] | None:
    value = source.get("sip_headers")
    if value is None or isinstance(value, Mapping):
        return value
    problems.append("dialin_settings.sip_headers is not an object")
    return None
