"""Which code is the user's."""

from __future__ import annotations

import functools
import inspect
import os
import sys
import sysconfig
from collections.abc import Iterator
from types import FrameType
from typing import Any

#: Where code lives that is not the user's: ours, and the standard library.
OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD_LIBRARY = tuple(
    os.path.join(os.path.abspath(path), "")
    for path in (os.path.dirname(os.__file__), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
)
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def is_user_file(path: str) -> bool:
    """Whether a file was written by the user: not by us, not installed, and not made up by the interpreter."""
    if path.startswith((OWN_FOLDER, *_STANDARD_LIBRARY, "<")):
        return False
    return not any(part in path for part in _INSTALLED)


def user_place(frame: FrameType | None) -> str | None:
    """The innermost place of the user's code as `file:line`, relative to the working folder where it is in it."""
    while frame is not None:
        path = frame.f_code.co_filename
        if is_user_file(path):
            return f"{_short(path)}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def user_modules(folder: str) -> list[str]:
    """The files of all modules of the user, without what is installed: first those of a folder, then those elsewhere."""
    root = _root(folder)
    return sorted({path for path, _ in _user_modules()}, key=lambda path: (not path.startswith(root), path))


def user_circles(folder: str, bot: object) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the user's modules have at their top: first of those in a folder and in the package that a bot comes from,
    which may be installed; then of all others."""
    root, package = _root(folder), _package(bot)
    near = {
        id(namespace): namespace
        for path, namespace in _modules()
        if (path.startswith(root) and is_user_file(path)) or str(namespace.get("__name__")).split(".")[0] == package
    }
    return list(near.values()), [namespace for _, namespace in _user_modules() if id(namespace) not in near]


def _package(bot: object) -> str:
    while isinstance(bot, functools.partial):
        bot = bot.func
    inner = inspect.unwrap(bot) if callable(bot) else bot
    return str(getattr(inner, "__module__", "")).split(".")[0]


def _root(folder: str) -> str:
    return os.path.join(os.path.abspath(folder), "")


def _user_modules() -> Iterator[tuple[str, dict[str, Any]]]:
    return ((path, namespace) for path, namespace in _modules() if path and is_user_file(path))


def _modules() -> Iterator[tuple[str, dict[str, Any]]]:
    for module in list(sys.modules.values()):
        # Modules that load lazily may do so, or fail, when they are asked for an attribute.
        namespace: dict[str, Any] = getattr(module, "__dict__", {})
        file = namespace.get("__file__")
        yield os.path.abspath(file) if isinstance(file, str) else "", namespace


def _short(path: str) -> str:
    try:
        short = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return path if short.startswith("..") else short
