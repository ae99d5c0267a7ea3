"""Which versions of the library are known to work."""

from __future__ import annotations

import re
from importlib import metadata

from ..errors import BotError

_DISTRIBUTION = "pipecat-ai"
#: The versions that this package is made for: all of 1.x. The tests of this package were run with 1.0, 1.7 and 1.14.
SUPPORTED_MAJOR = 1


def check_version() -> None:
    """Raises for a version of the library that is known to be another world."""
    try:
        version = metadata.version(_DISTRIBUTION)
    except metadata.PackageNotFoundError:
        # Not installed as a package, but importable all the same: from a checkout, for example.
        return
    found = re.match(r"(\d+)\.", version)
    if found is not None and int(found[1]) != SUPPORTED_MAJOR:
        raise BotError(
            "unsupported_version",
            f"{_DISTRIBUTION} {version} is installed, but bots can use {SUPPORTED_MAJOR}.x here; "
            f"install '{_DISTRIBUTION}>={SUPPORTED_MAJOR},<{SUPPORTED_MAJOR + 1}'",
        )
