"""A watch over an event loop, from another thread."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from .process_group import exit_with_group
from .user_code import user_place

#: How often the loop shows that it is alive.
BEAT_S = 0.1
#: A loop that stands still for so long is worth a word.
BLOCKED_S = 0.5
#: How often to look whether a standstill is over.
CHECK_S = 0.05
#: A line on standard error that begins with this is a report to the runner.
REPORT_MARK = "\x1e"


class _Standstill(NamedTuple):
    since: float
    place: str | None


class LoopWatch:
    """Reports on standard error when the main thread's loop stands still, and where. Ends a process that stands still
    and has nobody left to work for. There are no reports under a debugger, since a breakpoint is not a fault."""

    def __init__(self, is_orphan: Callable[[], bool]) -> None:
        #: Whether there is nobody left to work for.
        self.is_orphan = is_orphan
        self._last_beat = time.monotonic()
        self._awake_since = 0.0
        self._reporting = False
        self._closed = threading.Event()
        self._watched = threading.main_thread().ident or 0
        self._thread = threading.Thread(target=self._watch, name="botcli-loop-watch", daemon=True)
        self._thread.start()

    def follow(self, loop: asyncio.AbstractEventLoop) -> None:
        """Lets a loop beat, once it runs."""
        self._last_beat = time.monotonic()
        if not self._closed.is_set():
            loop.call_later(BEAT_S, self.follow, loop)

    def report(self) -> None:
        """From now on a standstill is reported; loading code may take its time."""
        self._reporting = True

    def close(self) -> None:
        """Ends the thread, and waits for that."""
        self._closed.set()
        self._thread.join()

    def _watch(self) -> None:
        standstill: _Standstill | None = None
        while self._sleep(self._next_look() if standstill is None else CHECK_S):
            standstill = self._begun() if standstill is None else self._goes_on(standstill)

    def _sleep(self, wait: float) -> bool:
        """False when the watch is over."""
        cpu, due = time.process_time(), time.monotonic() + wait
        if self._closed.wait(wait):
            return False
        now = time.monotonic()
        # When this thread was late and next to nothing was computed, the whole machine stood still, which is not the
        # bot's doing. When something was, the bot's code did not let go of the interpreter.
        if now - due > BLOCKED_S and time.process_time() - cpu < (now - due) / 10:
            self._awake_since = now
        return True

    def _next_look(self) -> float:
        """While all is well there is nothing to see before the next beat is overdue."""
        return max(self._alive_at() + BLOCKED_S - time.monotonic(), 0) + 0.001

    def _alive_at(self) -> float:
        """When the loop can last be blamed from."""
        return max(self._last_beat, self._awake_since)

    def _begun(self) -> _Standstill | None:
        since = self._last_beat
        if time.monotonic() - self._alive_at() <= BLOCKED_S:
            return None
        place = user_place(sys._current_frames().get(self._watched))
        if self._last_beat == since:
            self._say(time.monotonic() - since, False, place)
        return _Standstill(since, place)

    def _goes_on(self, standstill: _Standstill) -> _Standstill | None:
        until = self._last_beat
        if until == standstill.since:
            # It cannot see that its runner is gone, and would burn a core for ever.
            if self.is_orphan():
                exit_with_group(1)
            return standstill
        self._say(until - standstill.since, True, standstill.place)
        return None

    def _say(self, gap: float, over: bool, place: str | None) -> None:
        """The last beat was up to one interval before the standstill, half of one on average; that is not counted."""
        if not self._reporting or "pydevd" in sys.modules:
            return
        report: dict[str, object] = {"type": "blocked", "ms": round((gap - BEAT_S / 2) * 1000), "over": over}
        if place is not None:
            report["at"] = place
        try:
            os.write(2, f"{REPORT_MARK}{json.dumps(report)}\n".encode())
        except OSError:
            # Nobody reads. The next report may get through.
            pass
