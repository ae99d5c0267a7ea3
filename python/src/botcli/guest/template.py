"""The process that has imported the user's code once, and forks a guest for each session."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import threading
import warnings
from typing import Any, NoReturn

from .child import Fork, run_child
from .link_error import link_error
from .loader import LoadedBot, bot_path, load_bot
from .loop_watch import LoopWatch
from .process import leave
from .user_code import user_modules

#: More than any line of the runner; one that is longer is none of its.
MAX_LINE_BYTES = 64 * 1024


def run_template(control: socket.socket, watch: LoopWatch) -> NoReturn:
    """Loads the bot, tells the runner, and forks on its word until it closes the control stream."""
    control.setblocking(True)
    path = bot_path(os.environ)
    folder = os.path.dirname(path)
    try:
        bot = load_bot(path)
    except Exception as error:
        _tell(control, type="load-failed", error=link_error(error), files=user_modules(folder))
        leave(1)
    # No thread of ours is to be there when it forks.
    watch.close()
    others = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
    safe: dict[str, Any] = {"forkSafe": True}
    if others:
        names = ", ".join(others[:5])
        safe = {"forkSafe": False, "reason": f"the bot file starts threads when it is imported: {names}"}
    # What is there now is never looked at by the collector again, so its pages stay shared.
    gc.collect()
    gc.freeze()
    _tell(control, type="loaded", files=user_modules(folder), **safe)
    Template(control, bot).run()
    # Whether the runner is gone or only wants no more guests, what was started while the code was loaded ends.
    leave(0, orphaned=True)


class Template:
    """Forks and reaps. It has no event loop, so that a child begins with none."""

    def __init__(self, control: socket.socket, bot: LoadedBot) -> None:
        self._control = control
        self._bot = bot
        self._pending = b""
        self._children: set[int] = set()
        self._wake_read, self._wake_write = socket.socketpair()
        self._wake_read.setblocking(False)
        self._wake_write.setblocking(False)

    def run(self) -> None:
        """Returns when the runner is gone."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake_write.fileno(), warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake_read, select.POLLIN)
        while True:
            ready = [fd for fd, _ in poll.poll()]
            if self._wake_read.fileno() in ready:
                self._wake_read.recv(4096)
                self._reap()
            if self._control.fileno() in ready and not self._take():
                break
        _stop_signals()

    def _take(self) -> bool:
        try:
            data = self._control.recv(4096)
        except ConnectionError:
            return False
        *lines, self._pending = (self._pending + data).split(b"\n")
        for line in lines:
            self._obey(json.loads(line))
        return data != b"" and len(self._pending) <= MAX_LINE_BYTES

    def _obey(self, message: dict[str, Any]) -> None:
        if message.get("type") != "fork":
            return
        fork = Fork(id=message["id"], socket=message["socket"])
        # What is still in a buffer would be written once by each child.
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            with warnings.catch_warnings():
                # Newer interpreters warn of native threads, which libraries such as those for numbers prepare for.
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
        except OSError as error:
            _tell(self._control, type="fork-failed", id=fork.id, message=str(error))
            return
        if pid == 0:
            self._become_child(fork)
        self._children.add(pid)
        _tell(self._control, type="forked", id=fork.id, pid=pid)

    def _become_child(self, fork: Fork) -> NoReturn:
        _stop_signals()
        for sock in (self._control, self._wake_read, self._wake_write):
            sock.close()
        run_child(fork, self._bot)

    def _reap(self) -> None:
        """Only its own children: the user's code may have started programs while it was imported."""
        for pid in list(self._children):
            found, status = os.waitpid(pid, os.WNOHANG)
            if found == 0:
                continue
            self._children.discard(pid)
            if os.WIFSIGNALED(status):
                _tell(self._control, type="exited", pid=pid, signal=_signal_name(os.WTERMSIG(status)))
            else:
                _tell(self._control, type="exited", pid=pid, code=os.WEXITSTATUS(status))


def _stop_signals() -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _tell(control: socket.socket, **message: Any) -> None:
    try:
        control.sendall(json.dumps(message).encode() + b"\n")
    except OSError:
        # The runner is gone, which the next read tells.
        pass
