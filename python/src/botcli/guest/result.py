"""How a guest came to its end."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GuestResult:
    """Whether all went well, and what is left to say."""

    ok: bool
    #: What to tell a person, when the link could not carry it.
    message: str | None = None
    #: Whether the host went during the session, so that nobody looks after what the bot has started.
    orphaned: bool = False
