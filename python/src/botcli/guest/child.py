"""A guest that was forked from a template."""

from __future__ import annotations

import atexit
import json
import logging
import os
import socket
import sys
import traceback
from dataclasses import dataclass
from typing import Any, NoReturn

from .hang_up import is_hung_up
from .loader import LoadedBot
from .loop_watch import LoopWatch
from .process import run_guest

#: How long the runner may take to accept a connection.
CONNECT_S = 5.0


@dataclass(frozen=True, slots=True)
class Fork:
    """What the runner says of a guest that it wants."""

    id: int
    socket: str


def run_child(fork: Fork, bot: LoadedBot) -> NoReturn:
    """Goes on as a guest, in a session of its own. The user's code is there already."""
    try:
        template = os.getppid()
        os.setsid()
        _connect_output(fork)
        link = _connect(fork, "link")
        _forget_template()
        # A template may end while its guests still have callers.
        watch = LoopWatch(lambda: os.getppid() != template and is_hung_up(link))
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    run_guest(link, lambda: bot, watch)


def _connect_output(fork: Fork) -> None:
    for kind, fd in (("stdout", 1), ("stderr", 2)):
        sock = _connect(fork, kind)
        sock.settimeout(None)
        os.dup2(sock.fileno(), fd)
        sock.close()


def _connect(fork: Fork, kind: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    sock.settimeout(CONNECT_S)
    sock.connect(fork.socket)
    sock.sendall(json.dumps({"id": fork.id, "kind": kind}).encode() + b"\n")
    return sock


def _forget_template() -> None:
    # What the user's code wants to be done at the exit, such as to remove a folder, is for all guests, and for the
    # template to do. Only the last lines of the log are each guest's own.
    atexit._clear()
    atexit.register(logging.shutdown)
    # Python seeds itself anew after a fork; a library that does not would throw the same dice for every caller.
    random: Any = sys.modules.get("numpy.random")
    if random is not None:
        random.seed()
