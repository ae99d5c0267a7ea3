"""Which code is the user's."""

from __future__ import annotations

import os
import sys
from types import FrameType

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
    root = os.path.join(os.path.abspath(folder), "")
    files = {os.path.abspath(path) for module in list(sys.modules.values()) if (path := _file_of(module))}
    return sorted(path for path in files if path.startswith(root) and is_user_file(path))


def _file_of(module: object) -> str | None:
    # Modules that load lazily may do so, or fail, when they are asked.
    path = getattr(module, "__dict__", {}).get("__file__")
    return path if isinstance(path, str) else None


def _short(path: str) -> str:
    try:
        short = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return path if short.startswith("..") else short
