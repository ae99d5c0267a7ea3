"""A guest as a process."""

from __future__ import annotations

import asyncio
import atexit
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from ..link.port import open_link
from ..transport_types import EndReason
from .bot_task import cancel_all
from .guest import Guest
from .link_error import print_error
from .loader import LoadedBot
from .loop_watch import LoopWatch
from .process_group import exit_with_group

#: How long a bot may take to return when the guest itself is told to stop.
TERMINATE_S = 5.0
#: How long what the bot has left running may take to end, and what it registered to be run at the exit.
LEFTOVERS_S = 0.5
EXIT_S = 2.0


def run_guest(sock: socket.socket, load: Callable[[], LoadedBot], watch: LoopWatch) -> NoReturn:
    """Runs one session over a link, and ends the process with it."""
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        guest = loop.run_until_complete(_opened(sock, watch))
        _load(guest, load)
        watch.follow(loop)
        _listen(loop, guest)
        # A future and not a task, so that a bot that cancels all tasks does not end its guest.
        result = loop.run_until_complete(guest.done)
        loop.run_until_complete(cancel_all(asyncio.all_tasks(loop), LEFTOVERS_S))
    except SystemExit as error:
        leave(error.code, orphaned=watch.is_orphan())
    except BaseException as error:
        print_error(error)
        leave(1, orphaned=watch.is_orphan())
    _say(result.message)
    leave(0 if result.ok else 1, orphaned=result.orphaned or watch.is_orphan())


def prepare_process() -> None:
    """What holds for every process that runs a bot, before the user's code."""
    # A terminal interrupts the whole group; what that means for a session is for the runner to say. A function, since
    # programs that the bot starts would inherit that the signal is ignored.
    signal.signal(signal.SIGINT, lambda *_: None)
    for stream in (sys.stdout, sys.stderr):
        # Each line is to reach the log at once, and none is to be an error because of its characters.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True, errors="backslashreplace")


def leave(code: object, *, orphaned: bool = False) -> NoReturn:
    """Ends the process even if the user's code still holds threads, but not before its last lines are written. Without
    a runner, the programs that the bot has started end with it."""
    number = code if isinstance(code, int) else 0 if code is None else 1
    _say(None if isinstance(code, int) else code)
    end = exit_with_group if orphaned else _exit
    if orphaned:
        # It is sent to the whole group in the end.
        signal.signal(signal.SIGTERM, lambda *_: None)
    threading.Thread(target=_exit_later, args=(end, number), daemon=True).start()
    try:
        atexit._run_exitfuncs()
    except BaseException:
        pass
    _flush()
    end(number)


async def _opened(sock: socket.socket, watch: LoopWatch) -> Guest:
    runtime = "python {}.{}.{}".format(*sys.version_info)
    guest = Guest(pid=os.getpid(), runtime=runtime, on_start=watch.report)
    await open_link(sock, guest)
    return guest


def _load(guest: Guest, load: Callable[[], LoadedBot]) -> None:
    """Outside of the loop, as when a script is run: the user's code may use a loop of its own while it is imported."""
    try:
        loaded = load()
        guest.ready(loaded.bot, foreign=loaded.foreign)
    except Exception as error:
        guest.load_failed(error)


def _listen(loop: asyncio.AbstractEventLoop, guest: Guest) -> None:
    reason = EndReason("shutdown", "the guest was told to stop")
    loop.add_signal_handler(signal.SIGTERM, lambda: guest.cancel(reason, TERMINATE_S))

    def on_error(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        # A task or a callback that nobody looked after. What else is told here, such as a lost connection, is not the
        # end of a bot.
        if isinstance(error, Exception) and any(key in context for key in ("task", "future", "handle")):
            guest.fail(error)
        else:
            loop.default_exception_handler(context)

    loop.set_exception_handler(on_error)


def _say(text: object) -> None:
    try:
        if text is not None:
            print(text, file=sys.stderr)
    except (OSError, ValueError):
        # Nobody reads any more, or the bot has closed it.
        pass


def _exit_later(end: Callable[[int], NoReturn], code: int) -> None:
    threading.Event().wait(EXIT_S)
    end(code)


def _exit(code: int) -> NoReturn:
    os._exit(code & 0xFF)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            pass
