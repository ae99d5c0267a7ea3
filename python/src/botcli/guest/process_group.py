"""Programs that the bot has started."""

from __future__ import annotations

import os
import signal
import time
from typing import NoReturn

#: How long they may take to end by themselves.
TERM_S = 1.0
_LOOK_S = 0.02


def exit_with_group(code: int) -> NoReturn:
    """Ends this process and, if it has a group of its own as the runner gives it one, all that is in it."""
    if os.getpgrp() == os.getpid():
        # Where it is not caught here, it would be the end of this process, and of nobody who ignores it.
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
            os.killpg(0, signal.SIGTERM)
            _wait_for_children(time.monotonic() + TERM_S)
        os.killpg(0, signal.SIGKILL)
    os._exit(code & 0xFF)


def _wait_for_children(until: float) -> None:
    while time.monotonic() < until:
        try:
            # Only those of the same group.
            if os.waitpid(0, os.WNOHANG)[0] == 0:
                time.sleep(_LOOK_S)
        except ChildProcessError:
            return
