"""Finds the user's `bot` function."""

from __future__ import annotations

import importlib.util
import inspect
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any, NamedTuple, NoReturn

from .. import foreign
from ..errors import BotError
from .user_code import user_circles

BotFunction = Callable[[Any], Awaitable[object]]


class LoadedBot(NamedTuple):
    """The user's code, ready to be called."""

    bot: BotFunction
    #: Whether it is written for another library's runner, and so speaks to its callers itself.
    foreign: bool


#: Names to list where `bot` is not among them.
_LISTED = 10


def bot_path(env: Mapping[str, str]) -> str:
    """The bot file that the runner wants to be loaded."""
    path = env.get("BOTCLI_BOT_PATH")
    if not path:
        text = "BOTCLI_BOT_PATH, the bot file, is not set; a guest is started by the runner, not by hand"
        raise BotError("bot_not_found", text)
    return os.path.abspath(path)


def load_bot(path: str) -> LoadedBot:
    """Imports a file as `python bot.py` would run it, but for its name, and gives its `bot`."""
    if not os.path.isfile(path):
        raise BotError("bot_not_found", f"there is no bot file at {path}")
    _prepare_path(os.path.dirname(path))
    sys.argv = [path]
    name = _module_name(path)
    loader = _ScriptLoader(name, path)
    spec = importlib.util.spec_from_file_location(name, path, loader=loader)
    if spec is None:
        raise BotError("bot_not_found", f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except SystemExit as error:
        text = f"the bot file ends the process when it is imported (sys.exit({error.code!r})); leave that to the runner"
        raise BotError("bot_not_found", text).with_traceback(error.__traceback__) from None
    except ModuleNotFoundError as error:
        error.msg = f"{error.msg}. {_where_to_install()}"
        raise
    bot = bot_of(module)
    is_foreign = foreign.is_foreign(*user_circles(os.path.dirname(path), bot))
    foreign.prepare(is_foreign)
    return LoadedBot(bot, is_foreign)


class _ScriptLoader(SourceFileLoader):
    """Compiles the file each time, as for a script: a cache is only as new as the second in which a file was saved."""

    def path_stats(self, path: str) -> NoReturn:
        raise OSError("not cached")


def bot_of(module: ModuleType) -> BotFunction:
    """The `bot` of a module, or an error that says what is there instead."""
    bot = vars(module).get("bot")
    if bot is None:
        found = f"it has {', '.join(_names(module)) or 'nothing'}"
    elif not callable(bot):
        found = f"its `bot` is of type {type(bot).__name__}"
    elif _is_async(bot):
        _check_parameters(bot)
        return bot  # type: ignore[no-any-return]
    else:
        kind = "an async generator: it must not `yield`" if inspect.isasyncgenfunction(bot) else "not async"
        raise BotError("bot_not_found", f"the function `bot` is {kind}; write `async def bot(args):`")
    text = f"the bot file has no function named `bot` ({found}); add `async def bot(args):`"
    raise BotError("bot_not_found", text)


def _check_parameters(bot: Callable[..., Any]) -> None:
    try:
        inspect.signature(bot).bind(object())
    except TypeError as error:
        text = f"the function `bot` cannot be called with the arguments of a session ({error}); write `async def bot(args):`"
        raise BotError("bot_not_found", text) from None
    except ValueError:
        # Not every callable tells.
        pass


def _is_async(bot: Callable[..., Any]) -> bool:
    """Whether a call gives something to await, as far as that can be seen through decorators."""
    inner = inspect.unwrap(bot)
    return any(inspect.iscoroutinefunction(candidate) for candidate in (bot, inner, getattr(inner, "__call__", None)))


def _where_to_install() -> str:
    if sys.prefix != sys.base_prefix:
        return f"The bot runs with {sys.executable}; install what it needs there"
    return (
        f"The bot runs with {sys.executable}, since its project has no virtual environment; make one beside it "
        "(`uv sync`, or `python3 -m venv .venv` and `.venv/bin/pip install` what it needs), or give one with --python"
    )


def _names(module: ModuleType) -> list[str]:
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    ]
    return own[:_LISTED] + (["…"] if len(own) > _LISTED else [])


def _module_name(path: str) -> str:
    """As others would import it, so that it is not loaded twice; unless that name is taken."""
    name = os.path.splitext(os.path.basename(path))[0]
    return name if name.isidentifier() and name not in sys.modules else "bot"


def _prepare_path(folder: str) -> None:
    """`-m` has put the working folder first, where a script has its own."""
    if sys.path and sys.path[0] in ("", os.getcwd(), folder):
        del sys.path[0]
    sys.path.insert(0, folder)
