"""Evaluations of bots that are written against us."""

from __future__ import annotations

import importlib.util

from ..errors import BotError
from ..session_port import SessionPort


async def make_eval_transport(session: SessionPort, params: object) -> object:
    """The library's own transport for its harness, over the caller's socket."""
    if not _has_evals():
        raise BotError(
            "unsupported_version",
            "evaluations through the runner need pipecat-ai 1.13 or newer; upgrade it in the environment of this bot",
        )
    from pipecat.runner.utils import create_transport

    from .foreign_arguments import foreign_arguments_of

    return await create_transport(await foreign_arguments_of(session), {"eval": lambda: params})


def _has_evals() -> bool:
    try:
        return importlib.util.find_spec("pipecat.evals.fastapi_transport") is not None
    except ModuleNotFoundError:
        return False
