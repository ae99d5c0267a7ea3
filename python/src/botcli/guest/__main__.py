"""Started by the runner: `python -m botcli.guest`, or with `--template` as the process that guests are forked from."""

from __future__ import annotations

import os
import socket
import sys

from .hang_up import is_hung_up
from .loader import bot_path, load_bot
from .loop_watch import LoopWatch
from .process import prepare_process, run_guest
from .template import run_template

#: The descriptor on which the runner put the link, or the control stream of a template.
LINK_FD = 3


def _inherited() -> socket.socket:
    try:
        sock = socket.socket(fileno=LINK_FD)
    except OSError:
        text = f"file descriptor {LINK_FD} is not a link; a guest is started by the runner, not by hand"
        raise SystemExit(text) from None
    # Programs that the bot starts have no business with it.
    sock.set_inheritable(False)
    return sock


def _start() -> None:
    sock = _inherited()
    parent = os.getppid()
    # A runner that has gone already leaves its guests to another parent, which then would be taken for it. But what a
    # process had open is closed before its children are given away.
    if is_hung_up(sock):
        raise SystemExit(0)
    # Before the user's code, which may stand still from its first line.
    watch = LoopWatch(lambda: os.getppid() != parent)
    prepare_process()
    if sys.argv[1:] == ["--template"]:
        run_template(sock, watch)
    run_guest(sock, lambda: load_bot(bot_path(os.environ)), watch)


if __name__ == "__main__":
    _start()
