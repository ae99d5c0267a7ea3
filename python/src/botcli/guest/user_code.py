"""Which code is the user's."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

#: Where code lives that is not the user's: ours, and the standard library.
OWN_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_STANDARD_LIBRARY = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def is_user_file(path: str) -> bool:
    """Whether a file was written by the user: not by us, not installed, and not made up by the interpreter."""
    if path.startswith((OWN_FOLDER, _STANDARD_LIBRARY, "<")):
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
    """The files of all modules that were loaded from a folder, without what is installed in it."""
    return sorted({path for path, _ in _modules_of(folder)})


def user_namespaces(folder: str) -> list[dict[str, Any]]:
    """What the same modules have at their top."""
    return [namespace for _, namespace in _modules_of(folder)]


def _modules_of(folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    root = os.path.join(os.path.abspath(folder), "")
    for module in list(sys.modules.values()):
        # Modules that load lazily may do so, or fail, when they are asked for an attribute.
        namespace: dict[str, Any] = getattr(module, "__dict__", {})
        file = namespace.get("__file__")
        path = os.path.abspath(file) if isinstance(file, str) else ""
        if path.startswith(root) and is_user_file(path):
            yield path, namespace


def _short(path: str) -> str:
    try:
        short = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return path if short.startswith("..") else short
