"""Bots of another library: what stands between it and us is in `botcli.pipecat`, imported only when it is needed."""

from __future__ import annotations

import dis
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
_MAKES_TRANSPORT = ".create_transport"


class Adapter(Protocol):
    """What `botcli.pipecat` has to offer."""

    def prepare(self, foreign: bool) -> None:
        """Imports early what a session will need."""

    async def make_transport(self, session: SessionPort, params: object) -> object | None:
        """The library's transport for this session, or None when the parameters are not the library's."""

    async def make_arguments(self, session: SessionPort) -> object:
        """The library's own arguments."""


def is_foreign(*circles: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a project was written for the other library's runner, by what its modules use. The first circle of
    modules that uses either library decides, so the nearest to the bot come first. That the library is loaded does not
    say so, since a bot of ours may use its services."""
    for circle in circles:
        namespaces = [namespace for namespace in circle if not _is_library(namespace)]
        # Reading code takes longer, and most bots of ours are known without.
        used = {name for namespace in namespaces for name in _modules_used(namespace)}
        if not _is_ours(used):
            used.update(name for namespace in namespaces for name in _imports_of(namespace))
        if _is_ours(used):
            return False
        if any(name == _FOREIGN_RUNNER or name.startswith(f"{_FOREIGN_RUNNER}.") for name in used):
            return True
    return False


async def foreign_transport(session: SessionPort, params: object) -> object | None:
    """A transport of another library, if the parameters are of one that we know."""
    adapter = _adapter()
    return None if adapter is None else await adapter.make_transport(session, params)


async def foreign_arguments(session: SessionPort) -> object:
    """Arguments of another library, for a bot that is written for its runner."""
    return await cast(Adapter, importlib.import_module(_ADAPTER)).make_arguments(session)


def prepare(foreign: bool) -> None:
    """Imports early what a bot of another library will need, so that its caller does not wait for that."""
    adapter = _adapter() if foreign or _LIBRARY in sys.modules else None
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


def _is_ours(used: set[str]) -> bool:
    return any(name == _OURS or (name.startswith(f"{_OURS}.") and name.endswith(_MAKES_TRANSPORT)) for name in used)


def _modules_used(namespace: Mapping[str, Any]) -> Iterator[str]:
    """Names of modules that are in a namespace, by themselves or by something that they define; ours only where it
    makes the transport."""
    for value in list(namespace.values()):
        if isinstance(value, ModuleType):
            yield value.__name__
        elif isinstance(value, (type, FunctionType)):
            module = str(value.__module__)
            yield _OURS if module == f"{_OURS}.transport_factory" else module


def _imports_of(namespace: Mapping[str, Any]) -> Iterator[str]:
    """What a module would import only later, wherever that is written in it."""
    get_code = getattr(namespace.get("__loader__"), "get_code", None)
    try:
        code = None if get_code is None else get_code(namespace.get("__name__"))
    except Exception:
        # It was saved meanwhile, and is broken now; or its loader is something special.
        return
    if isinstance(code, CodeType):
        yield from _imports(code)


def _imports(code: CodeType) -> Iterator[str]:
    """Full names of what is imported of either library, in a piece of code and all that are in it."""
    if any(name.split(".")[0] in (_LIBRARY, _OURS) for name in code.co_names):
        before: object = None
        for instruction in dis.get_instructions(code):
            if instruction.opname == "IMPORT_NAME":
                # What comes `from` it is loaded right before.
                parts = before if isinstance(before, tuple) else ()
                yield from (f"{instruction.argval}.{part}" for part in parts)
                if not parts or instruction.argval.split(".")[0] == _LIBRARY:
                    yield instruction.argval
            if instruction.opname != "EXTENDED_ARG":
                before = instruction.argval
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _imports(inner)
