"""Runs one bot for one session over a link."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from ..errors import BotError, is_end_of_session
from ..link.frames import LINK_VERSION
from ..link.host_messages import Cancel, HostMessage, Ping, Refused, Start
from ..link.port import LinkPort
from ..transport_types import EndReason
from .bot_task import CANCEL_MARGIN_S, Helpers, stop_task
from .link_error import link_error, print_error
from .loader import BotFunction
from .memory import resident_bytes
from .result import GuestResult
from .session import GuestSession

#: How long the last words may take to leave.
FLUSH_S = 0.5
#: How long requests that the bot works on may take to stop, once the session is over.
REQUESTS_S = 0.5


class Guest:
    """One end of a link: hello, ready, a session, its end. `done` tells when nothing is left to do."""

    def __init__(
        self, *, pid: int, runtime: str, on_start: Callable[[], None] = lambda: None, grace_s: float = 5.0
    ) -> None:
        self._pid = pid
        self._runtime = runtime
        self._on_start = on_start
        #: How long the host may take to close the link, and the bot to return after it was closed.
        self._grace_s = grace_s
        self._loop = asyncio.get_running_loop()
        self._port: LinkPort | None = None
        self._bot: BotFunction | None = None
        self._foreign = False
        self._session: GuestSession | None = None
        self._task: asyncio.Task[Any] | None = None
        self._helpers = Helpers(self._loop)
        #: What was said at the end, once it was.
        self._ended: GuestResult | None = None
        self._left = False
        self._timer: asyncio.TimerHandle | None = None
        self.done: asyncio.Future[GuestResult] = self._loop.create_future()

    def ready(self, bot: BotFunction, *, foreign: bool = False) -> None:
        """The user's code is loaded. A foreign bot speaks to its callers itself."""
        self._bot = bot
        self._foreign = foreign
        self._send("ready", **({"passThrough": True} if foreign else {}))

    def load_failed(self, error: BaseException) -> None:
        """The user's code could not be loaded."""
        self._ended = GuestResult(ok=False)
        self._send("load-failed", error=link_error(error))
        self._leave()

    def fail(self, error: BaseException) -> None:
        """The user's code broke, in `bot` or outside of it."""
        over = self._ended is not None or self._left
        # A bot that only noticed that its session is over has stopped in a good way.
        if (over or (self._session is not None and self._session.end_reason)) and is_end_of_session(error):
            return
        if over:
            print_error(error)
        else:
            self._abandon(error)

    def cancel(self, reason: EndReason, deadline_s: float) -> None:
        """Ends the session; the bot has so long to return."""
        if self._ended is not None or self._left:
            return
        if self._session is None:
            self._end(GuestResult(ok=True))
            self._leave()
            return
        margin = min(CANCEL_MARGIN_S, deadline_s / 2)
        self._arm(deadline_s - margin, lambda: self._insist(reason, deadline_s, margin))
        self._session.end(reason)

    # What the link calls.

    def opened(self, port: LinkPort) -> None:
        self._port = port
        port.send("hello", version=LINK_VERSION, runtime=self._runtime, pid=self._pid)

    def message(self, message: HostMessage) -> None:
        if isinstance(message, Ping):
            self._send("pong", id=message.id, rss=resident_bytes())
        elif isinstance(message, Start):
            self._start(message)
        elif isinstance(message, Cancel):
            self.cancel(EndReason(message.cause, message.message), message.deadline_ms / 1000)
        elif isinstance(message, Refused):
            self._ended = GuestResult(ok=False, message=f"the host refused this guest: {message.message}")
            self._leave()
        elif self._session is not None:
            self._session.message(message)

    def audio_in(self, captured_at: int, audio: bytes) -> None:
        if self._session is not None:
            self._session.audio_in(captured_at, audio)

    def playback(self, epoch: int, played: int, limit: int) -> None:
        if self._session is not None:
            self._session.playback(epoch, played, limit)

    def socket(self, data: str | bytes) -> None:
        if self._session is not None:
            self._session.socket_message(data)

    def heard(self, count: int) -> None:
        if self._session is not None:
            self._session.socket_heard(count)

    def closed(self, error: Exception | None) -> None:
        if self._ended is None and (self._session is not None or error is not None):
            text = f"the link broke: {error}" if error else "the link closed before the session was over"
            self._ended = GuestResult(ok=False, message=text, orphaned=self._session is not None)
            if self._session is not None:
                self._session.end(EndReason("media_failed", text))
        self._leave()

    def _start(self, message: Start) -> None:
        if self._bot is None or self._session is not None or self._ended is not None or self._port is None:
            text = "the host started a session in a guest that is not ready for one"
            self._ended = self._ended or GuestResult(ok=False, message=text)
            self._leave()
            return
        session = GuestSession(
            message.start,
            self._port,
            foreign=self._foreign,
            fail=self.fail,
            finish=lambda: self._end(GuestResult(ok=True)),
        )
        self._session = session
        self._on_start()
        self._task = self._loop.create_task(self._run(self._bot, session), name="bot")
        self._task.add_done_callback(self._returned)

    async def _run(self, bot: BotFunction, session: GuestSession) -> None:
        await bot(await session.arguments())

    def _returned(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            self.fail(asyncio.CancelledError("the bot was cancelled, but not by its session"))
        elif (error := task.exception()) is not None and not isinstance(error, (SystemExit, KeyboardInterrupt)):
            # Those two are raised by the loop as well.
            self.fail(error)
        if self._ended is None and self._session is not None:
            self._helpers.run(self._session.drained(), lambda: self._end(GuestResult(ok=True)))

    def _insist(self, reason: EndReason, deadline_s: float, margin: float) -> None:
        """The bot does not look at its transport, so its task is cancelled; after that nothing more can be done."""
        text = (
            f"the bot did not return within {deadline_s * 1000:.0f} ms after its session was over ({reason.message}); "
            "let CancelledError pass, or return when transport.wait_ended() does"
        )
        self._arm(margin, lambda: self._abandon(BotError("not_finished", text)))
        if self._task is not None:
            self._task.cancel(f"the session is over: {reason.message}")

    def _abandon(self, error: BaseException) -> None:
        """Ends without the bot, whose code is broken or does not come back."""
        self._task = None
        self._end(GuestResult(ok=False), error)

    def _end(self, result: GuestResult, error: BaseException | None = None) -> None:
        """Says how it ended; the host closes the link then."""
        if self._ended is not None or self._left:
            return
        self._ended = result
        if error is None:
            self._send("end", outcome="returned")
            reason = EndReason("bot_returned", "the bot is done")
        else:
            self._send("end", outcome="failed", error=link_error(error))
            reason = EndReason("bot_failed", "the bot failed")
        self._arm(self._grace_s, self._leave)
        if self._session is not None:
            self._session.end(reason)

    def _leave(self) -> None:
        """Lets go of the link; a bot that is still at work may finish, unless it has failed."""
        if self._left:
            return
        self._left = True
        if self._timer is not None:
            self._timer.cancel()
        if self._port is not None:
            self._port.close()
        self._helpers.run(self._quiet(), self._finished)

    async def _quiet(self) -> None:
        await stop_task(self._task, self._grace_s)
        if self._session is not None:
            await self._session.quiet(REQUESTS_S)
        if self._port is not None:
            await asyncio.wait({self._port.gone}, timeout=FLUSH_S)

    def _finished(self) -> None:
        if not self.done.done():
            self.done.set_result(self._ended or GuestResult(ok=True))

    def _send(self, type: str, **fields: Any) -> None:
        if self._port is not None:
            self._port.send(type, **fields)

    def _arm(self, seconds: float, action: Callable[[], None]) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, action)
