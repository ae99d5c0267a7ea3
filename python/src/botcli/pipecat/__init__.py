"""What stands between the PyPI package `pipecat-ai` and us. Imported only for bots that use that package."""

from __future__ import annotations

from .adapter import make_arguments, make_transport, prepare

__all__ = ["make_arguments", "make_transport", "prepare"]
