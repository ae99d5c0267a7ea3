"""What a session asks of the library. Parts of it are imported when they are needed, since a bot may have only some."""

from __future__ import annotations

import importlib
import importlib.util
import os

from ..errors import BotError
from ..session_port import SessionPort
from .credentials import lend_credentials
from .version import check_version

#: What the bots of the library's own runner use, and what each part needs: the library complains aloud where a thing
#: is missing.
_FOREIGN_PARTS: dict[str, tuple[str, ...]] = {
    "botcli.pipecat.foreign_arguments": (),
    "pipecat.runner.utils": (),
    "pipecat.transports.websocket.fastapi": ("fastapi",),
    "pipecat.transports.smallwebrtc.transport": ("aiortc", "cv2"),
    "botcli.pipecat.peer": ("aiortc",),
    # What a first connection would import otherwise, while its caller waits.
    "cryptography.hazmat.backends.openssl.backend": ("aiortc", "cryptography"),
    "cryptography.hazmat.primitives.serialization": ("aiortc", "cryptography"),
}


def prepare(foreign: bool) -> None:
    """Imports early what a session will need, so that no caller waits for it."""
    if not foreign:
        _try_import("botcli.pipecat.pipeline_transport")
        return
    lend_credentials(os.environ)
    for module, needed in _FOREIGN_PARTS.items():
        if all(importlib.util.find_spec(name) is not None for name in needed):
            _try_import(module)


async def make_transport(session: SessionPort, params: object) -> object | None:
    """The library's transport for a bot that is written against us; None when the parameters are not the library's."""
    if type(params).__module__.split(".")[0] != "pipecat" and not _is_params(params):
        return None
    check_version()
    transport = session.start.transport
    if transport == "eval":
        from .eval_transport import make_eval_transport

        return await make_eval_transport(session, params)
    if transport == "room":
        from .room_transport import make_room_transport

        return make_room_transport(session, params)
    from .pipeline_transport import make_pipeline_transport

    return make_pipeline_transport(session, params)


async def make_arguments(session: SessionPort) -> object:
    """The library's own arguments, for a bot that is written for its runner."""
    from .foreign_arguments import foreign_arguments_of

    check_version()
    lend_credentials(os.environ)
    return await foreign_arguments_of(session)


def _is_params(params: object) -> bool:
    """Whether these are the library's parameters, or a kind of them that the bot has made."""
    return any(
        kind.__name__ == "TransportParams" and kind.__module__.split(".")[0] == "pipecat"
        for kind in type(params).__mro__
    )


def _try_import(module: str) -> None:
    try:
        importlib.import_module(module)
    except (ImportError, BotError):
        # Who needs it is told so then.
        pass
