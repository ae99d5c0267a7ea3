"""Errors as they cross the link."""

from __future__ import annotations

import sys
import traceback
from typing import TypedDict

from ..errors import BotError, SetupError
from .user_code import OWN_FOLDER, is_user_file

#: A message or traceback longer than this helps nobody.
TEXT_LIMIT = 32 * 1024


class _Required(TypedDict):
    name: str
    message: str


class LinkError(_Required, total=False):
    """Text only, with the place in the user's code when it is known."""

    stack: str


def link_error(error: BaseException) -> LinkError:
    """An error as it crosses the link, whatever was raised."""
    described: LinkError = {"name": type(error).__name__, "message": _cut(_text(error))}
    stack = user_traceback(error)
    if stack is not None:
        described["stack"] = stack
    return described


def user_traceback(error: BaseException) -> str | None:
    """The traceback from the user's first line on. None when no line of the user has a part in it, or is at fault."""
    if isinstance(error, SetupError):
        return None
    try:
        found = traceback.TracebackException.from_exception(error, compact=True)
        stack = found.stack
        first = next((index for index, frame in enumerate(stack) if is_user_file(frame.filename)), len(stack))
        del stack[:first]
        # What we say about a call of the user is about the user's line, and not about ours below it.
        while isinstance(error, BotError) and stack and stack[-1].filename.startswith(OWN_FOLDER):
            del stack[-1]
        if not stack and not isinstance(error, SyntaxError):
            return None
        text = "".join(found.format()).rstrip("\n")
    except Exception:
        # The error's own methods are the user's code, and may be broken, too.
        return None
    # The last lines say what happened.
    return text if len(text) <= TEXT_LIMIT else f"…{text[-TEXT_LIMIT:]}"


def print_error(error: BaseException) -> None:
    """Writes an error to the log, if anybody reads it."""
    try:
        print(user_traceback(error) or f"{type(error).__name__}: {_text(error)}", file=sys.stderr)
    except (OSError, ValueError):
        pass


def print_whole_error(error: BaseException) -> None:
    """The same for one that may have come from a library alone: then all of its lines are written, unless it is ours."""
    try:
        ours = isinstance(error, (BotError, SetupError)) or error.__traceback__ is None
        text = user_traceback(error)
        if text is None and not ours:
            text = "".join(traceback.format_exception(error)).rstrip("\n")
        print(text or f"{type(error).__name__}: {_text(error)}", file=sys.stderr)
    except Exception:
        # Nobody reads any more; or the error's own methods, which are the user's code, are broken.
        pass


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its message cannot be read)"


def _cut(text: str) -> str:
    return text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]}…"
