"""The requests that a bot answers."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from typing import Any, Protocol

from ..asgi_app import AsgiHandler
from ..errors import BotError, is_end_of_session
from ..http_request import HttpRequest
from ..http_response import RequestHandler
from ..outgoing_response import SpelledResponse, spell_response
from .link_error import print_whole_error

#: The host waits no longer for an answer.
RESPONSE_S = 30.0


class ResponsePort(Protocol):
    """The way to who has asked."""

    def send_response(self, id: int, response: SpelledResponse) -> None: ...
    def refuse_request(self, id: int, error: BaseException) -> None: ...


class RequestTasks:
    """Runs the handler once for each request, in tasks of their own, so that a slow one holds up nobody. What it raises
    is answered and told, and ends nothing else."""

    def __init__(self, handler: RequestHandler, port: ResponsePort, *, limit_s: float = RESPONSE_S) -> None:
        self._handler = handler
        self._port = port
        self._limit_s = limit_s
        self._loop = asyncio.get_running_loop()
        #: The loop itself holds tasks only weakly. Each ends by its limit, so there are few.
        self._tasks: set[asyncio.Task[None]] = set()
        self._unanswered: set[int] = set()
        self._over = False

    def add(self, id: int, request: HttpRequest) -> None:
        """Lets the bot answer a request."""
        if self._over:
            return
        self._unanswered.add(id)
        task = self._loop.create_task(self._run(id, request), name=f"request-{id}")
        self._tasks.add(task)
        task.add_done_callback(lambda task: self._done(id, task))

    def cancel(self) -> None:
        """The session is over; nobody waits for an answer any more."""
        if self._over:
            return
        self._over = True
        for task in self._tasks:
            task.cancel("the session is over")

    async def stopped(self, limit_s: float) -> None:
        """Returns when nothing runs any more, or will not stop."""
        self.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=limit_s)

    async def _run(self, id: int, request: HttpRequest) -> None:
        try:
            async with asyncio.timeout(self._limit_s) as limit:

                def answer(result: object) -> None:
                    self._port.send_response(id, spell_response(result))
                    self._unanswered.discard(id)
                    # An application may go on after its answer, for as long as it likes.
                    if not limit.expired():
                        limit.reschedule(None)

                await self._handle(request, answer)
        except TimeoutError as error:
            if not limit.expired():
                raise
            text = (
                f"{request.method} {request.path} was not answered within {self._limit_s:g} seconds, and was cancelled; "
                "answer first, and do what takes long in a task of its own"
            )
            # Where the handler stood is what helps.
            place = None if error.__cause__ is None else error.__cause__.__traceback__
            raise BotError("not_answered", text).with_traceback(place) from None

    async def _handle(self, request: HttpRequest, answer: Callable[[object], None]) -> None:
        if isinstance(self._handler, AsgiHandler):
            await self._handler.run(request, answer)
            return
        result: Any = self._handler(request)
        answer(await result if inspect.isawaitable(result) else result)

    def _done(self, id: int, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        waits = id in self._unanswered
        self._unanswered.discard(id)
        error: BaseException | None
        if task.cancelled():
            error = asyncio.CancelledError("the request was cancelled, but not by its session")
        else:
            error = task.exception()
        # Those two are raised by the loop as well.
        if error is None or isinstance(error, (SystemExit, KeyboardInterrupt)):
            return
        if self._over and is_end_of_session(error):
            return
        print_whole_error(error)
        if waits:
            self._port.refuse_request(id, error)
