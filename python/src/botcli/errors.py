"""The errors of this package."""

from __future__ import annotations

import asyncio
from typing import Literal

BotErrorCode = Literal[
    "bot_not_found",
    "unknown_session",
    "transport_exists",
    "transport_not_offered",
    "no_room_transport",
    "invalid_params",
    "invalid_audio",
    "invalid_message",
    "invalid_keys",
    "invalid_body",
    "flooded",
    "rtvi_off",
    "already_answered",
    "not_finished",
    "not_passed_through",
    "already_serving",
    "invalid_handler",
    "invalid_response",
    "not_answered",
    "unsupported_version",
    "session_ended",
]


class BotError(Exception):
    """What is wrong with how a bot uses its session. `session_ended` is no fault: it stops a bot whose caller left."""

    def __init__(self, code: BotErrorCode, message: str) -> None:
        super().__init__(message)
        self.code: BotErrorCode = code


class SetupError(Exception):
    """What somebody has to set up before the bot can run, such as a key. It is told without a traceback, which would not help."""


def is_end_of_session(error: BaseException) -> bool:
    """Whether a bot stopped only because its session did."""
    if isinstance(error, BaseExceptionGroup):
        # Of a `TaskGroup`: one of its tasks has noticed the end, and took the others along.
        return all(is_end_of_session(inner) for inner in error.exceptions)
    if isinstance(error, BotError):
        return error.code == "session_ended"
    return isinstance(error, asyncio.CancelledError)
