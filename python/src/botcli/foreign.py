"""Bots of another library: what stands between it and us is in `botcli.pipecat`, imported only when it is needed."""

from __future__ import annotations

import importlib
import sys
from typing import Protocol, cast

from .arguments import RunnerArguments
from .session_port import SessionPort

_ADAPTER = "botcli.pipecat"
_LIBRARY = "pipecat"
#: Only a bot that imports this wants that library's own arguments.
_FOREIGN_ARGUMENTS = "pipecat.runner.types"


class Adapter(Protocol):
    """What `botcli.pipecat` has to offer."""

    def make_transport(self, session: SessionPort, args: object, params: object) -> object | None:
        """The library's transport for this session, or None when the parameters are not the library's."""

    def make_arguments(self, session: SessionPort, args: RunnerArguments) -> object | None:
        """The library's own arguments for a bot that expects them, or None to keep ours."""


def foreign_transport(session: SessionPort, args: object, params: object) -> object | None:
    """A transport of another library, if the parameters are of one that we know."""
    adapter = _adapter()
    return None if adapter is None else adapter.make_transport(session, args, params)


def foreign_arguments(session: SessionPort, args: RunnerArguments) -> object | None:
    """Arguments of another library, if the bot has imported its types."""
    if _FOREIGN_ARGUMENTS not in sys.modules:
        return None
    adapter = _adapter()
    return None if adapter is None else adapter.make_arguments(session, args)


def prepare() -> None:
    """Imports early what a bot of another library will need, so that its caller does not wait for that."""
    if _LIBRARY in sys.modules:
        _adapter()


def _adapter() -> Adapter | None:
    try:
        return cast(Adapter, importlib.import_module(_ADAPTER))
    except ModuleNotFoundError as error:
        # The adapter, or the library that it adapts, is not installed. A fault inside of it is not to be hidden.
        if error.name is not None and error.name.split(".")[0] in (_LIBRARY, "botcli"):
            return None
        raise
