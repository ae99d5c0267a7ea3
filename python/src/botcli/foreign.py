"""Bots of another library: what stands between it and us is in `botcli.pipecat`, imported only when it is needed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any, Protocol, cast

from .session_port import SessionPort

_ADAPTER = "botcli.pipecat"
_LIBRARY = "pipecat"
#: A bot that uses this is written for that library's own runner.
_FOREIGN_RUNNER = "pipecat.runner"
_OURS = "botcli"


class Adapter(Protocol):
    """What `botcli.pipecat` has to offer."""

    def prepare(self, foreign: bool) -> None:
        """Imports early what a session will need."""

    async def make_transport(self, session: SessionPort, params: object) -> object | None:
        """The library's transport for this session, or None when the parameters are not the library's."""

    async def make_arguments(self, session: SessionPort) -> object:
        """The library's own arguments."""


def is_foreign(namespaces: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a project was written for the other library's runner, by what its modules have at their top. That the
    library is loaded does not say so, since a bot of ours may use its services."""
    used = {name for namespace in namespaces if not _is_library(namespace) for name in _modules_used(namespace)}
    return _OURS not in used and any(name == _FOREIGN_RUNNER or name.startswith(f"{_FOREIGN_RUNNER}.") for name in used)


async def foreign_transport(session: SessionPort, params: object) -> object | None:
    """A transport of another library, if the parameters are of one that we know."""
    adapter = _adapter()
    return None if adapter is None else await adapter.make_transport(session, params)


async def foreign_arguments(session: SessionPort) -> object:
    """Arguments of another library, for a bot that is written for its runner."""
    return await cast(Adapter, importlib.import_module(_ADAPTER)).make_arguments(session)


def prepare(foreign: bool) -> None:
    """Imports early what a bot of another library will need, so that its caller does not wait for that."""
    adapter = _adapter() if _LIBRARY in sys.modules else None
    if adapter is not None:
        adapter.prepare(foreign)


def _adapter() -> Adapter | None:
    try:
        return cast(Adapter, importlib.import_module(_ADAPTER))
    except ModuleNotFoundError as error:
        # The adapter, or the library that it adapts, is not installed. A fault inside of it is not to be hidden.
        if error.name is not None and error.name.split(".")[0] in (_LIBRARY, _OURS):
            return None
        raise


def _is_library(namespace: Mapping[str, Any]) -> bool:
    """A copy of the library may lie in the project's own folder."""
    return str(namespace.get("__name__")).split(".")[0] == _LIBRARY


def _modules_used(namespace: Mapping[str, Any]) -> Iterator[str]:
    """Names of modules that are in a namespace, by themselves or by something that they define; ours only where it
    makes the transport."""
    for value in list(namespace.values()):
        if isinstance(value, ModuleType):
            yield value.__name__
        elif isinstance(value, FunctionType) and value.__globals__ is namespace:
            # What is imported only when the function runs.
            yield from _imports(value.__code__)
        elif isinstance(value, (type, FunctionType)):
            module = str(value.__module__)
            yield _OURS if module == f"{_OURS}.transport_factory" else module


def _imports(code: CodeType) -> Iterator[str]:
    yield from (name for name in code.co_names if name.startswith(f"{_FOREIGN_RUNNER}."))
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _imports(inner)
