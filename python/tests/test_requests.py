from __future__ import annotations

import asyncio
import contextlib
import gc
import io
import sys
import types
import unittest
import warnings
from typing import Any
from unittest import mock

from support.host import Host, until
from support.session import SessionTest

from botcli import BotError, HttpRequest, HttpResponse, TransportParams, asgi, create_transport, serve
from botcli.guest.guest import Guest
from botcli.guest.request_tasks import RequestTasks
from botcli.http_response import RequestHandler
from botcli.outgoing_response import SpelledResponse


class Port:
    """Keeps what was answered."""

    def __init__(self) -> None:
        self.answers: dict[int, Any] = {}

    def send_response(self, id: int, response: SpelledResponse) -> None:
        self.answers[id] = response

    def refuse_request(self, id: int, error: BaseException) -> None:
        self.answers[id] = error


class RequestsTest(SessionTest):
    async def serving(self, handler: RequestHandler, **start: Any) -> tuple[Host, Guest]:
        """A session whose bot does nothing but answer."""

        async def bot(args: Any) -> None:
            serve(args, handler)
            await asyncio.sleep(1000)

        host, guest = await self.run_bot(bot, **start)
        self.assertEqual(await host.message("serving"), {"type": "serving"})
        return host, guest

    async def leave(self, host: Host, guest: Guest) -> None:
        host.cancel(200)
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        await host.close()
        self.assertTrue((await asyncio.wait_for(guest.done, 10)).ok)

    async def test_answers_with_plain_and_async_handlers(self) -> None:
        def plain(request: HttpRequest) -> dict[str, Any]:
            return {"method": request.method, "path": request.path, "params": request.params, "body": request.text()}

        async def later(request: HttpRequest) -> dict[str, Any]:
            await asyncio.sleep(0)
            return plain(request)

        for handler in (plain, later):
            host, guest = await self.serving(handler)
            host.ask(1, "/a", method="POST", query="?b=1", body=b"c", x_key="d")
            answer = await host.answer(1)
            self.assertEqual((answer.error, answer.status), (None, 200))
            self.assertEqual(answer.headers, [["content-type", "application/json"]])
            self.assertEqual(answer.body, b'{"method":"POST","path":"/a","params":{"b":"1"},"body":"c"}')
            await self.leave(host, guest)

    async def test_serves_in_every_kind_of_session_and_beside_a_transport(self) -> None:
        websocket = {"path": "/ws", "remoteAddress": ""}
        for start in (
            {"transport": "room", "room": {"roomUrl": "https://x"}},
            {"transport": "websocket", "websocket": websocket},
            {"transport": "eval", "websocket": websocket, "passThrough": True},
        ):
            host, guest = await self.serving(lambda request: request.path, **start)
            host.ask(1, "/here")
            self.assertEqual((await host.answer(1)).body, b"/here")
            await self.leave(host, guest)

        async def bot(args: Any) -> None:
            transport = await create_transport(args, {"webrtc": TransportParams})
            serve(args, lambda request: transport.send_message(request.path))
            await transport.wait_ended()

        host, guest = await self.run_bot(bot)
        await host.message("serving")
        host.ask(1, "/said")
        self.assertEqual((await host.answer(1)).status, 204)
        self.assertEqual(host.said, ["/said"])
        await self.leave(host, guest)

    async def test_a_bot_for_another_runner_serves_with_that_librarys_arguments(self) -> None:
        adapter: Any = types.ModuleType("botcli.pipecat")

        async def make_arguments(session: Any) -> object:
            return types.SimpleNamespace()

        adapter.make_arguments = make_arguments

        async def bot(args: Any) -> None:
            serve(args, lambda request: "theirs")
            await asyncio.sleep(1000)

        with mock.patch.dict(sys.modules, {"botcli.pipecat": adapter}):
            host, guest = await self.guest(grace_s=2.0)
            guest.ready(bot, foreign=True)
            await host.message("ready")
            host.start(passThrough=True)
            await host.message("serving")
            host.ask(1)
            self.assertEqual((await host.answer(1)).body, b"theirs")
            await self.leave(host, guest)

    async def test_a_slow_one_holds_up_nobody(self) -> None:
        go = asyncio.Event()

        async def handler(request: HttpRequest) -> str:
            if request.path == "/slow":
                await go.wait()
            return request.path

        host, guest = await self.serving(handler)
        host.ask(1, "/slow")
        host.ask(2, "/fast")
        self.assertEqual((await host.answer(2)).body, b"/fast")
        self.assertFalse(any(message.get("id") == 1 for message in host.messages))
        go.set()
        self.assertEqual((await host.answer(1)).body, b"/slow")
        await self.leave(host, guest)

    async def test_what_a_handler_raises_is_answered_and_told_and_ends_nothing(self) -> None:
        def fails() -> None:
            raise KeyError("a note")

        async def handler(request: HttpRequest) -> Any:
            if request.path == "/raise":
                fails()
            if request.path == "/cancelled":
                raise asyncio.CancelledError
            if request.path == "/group":
                raise ExceptionGroup("both", [ValueError("one"), KeyError("other")])
            if request.path == "/set":
                return {1, 2}
            if request.path == "/long":
                return "x" * (512 * 1024 + 1)
            if request.path == "/header":
                return HttpResponse(headers={"a": "b\n"})
            return request.path

        host, guest = await self.serving(handler)
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            for id, (path, name, message) in enumerate(
                (
                    ("/raise", "KeyError", "'a note'"),
                    ("/cancelled", "CancelledError", "not by its session"),
                    ("/group", "ExceptionGroup", "both"),
                    ("/set", "BotError", "gave builtins.set; it must give"),
                    ("/long", "BotError", "may have 524288 bytes"),
                    ("/header", "BotError", "the header a has a line break"),
                )
            ):
                host.ask(id, path)
                answer = await host.answer(id)
                assert answer.error is not None, path
                self.assertEqual(set(answer.error), {"name", "message"})
                self.assertEqual(answer.error["name"], name)
                self.assertIn(message, answer.error["message"])
                self.assertIn(name, told.getvalue())
        self.assertRegex(told.getvalue(), r'^Traceback.*\n  File ".*test_requests.py", line \d+, in handler\n')
        self.assertRegex(told.getvalue(), r"in fails\n.*\nKeyError: 'a note'\n")
        self.assertNotIn("request_tasks.py", told.getvalue())
        host.ask(99, "/still")
        self.assertEqual((await host.answer(99)).body, b"/still")
        await self.leave(host, guest)

    async def test_an_error_of_a_library_alone_is_told_with_all_its_lines(self) -> None:
        host, guest = await self.serving(HttpRequest.json)
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            host.ask(1, body=b"{")
            answer = await host.answer(1)
        assert answer.error is not None
        self.assertEqual(answer.error["name"], "JSONDecodeError")
        self.assertRegex(told.getvalue(), r"(?s)^Traceback.*http_request.py.*JSONDecodeError: ")
        await self.leave(host, guest)

    async def test_what_runs_at_the_end_is_cancelled_and_may_clean_up(self) -> None:
        seen: list[str] = []

        async def handler(request: HttpRequest) -> None:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                await asyncio.sleep(0.05)
                seen.append(request.path)
                if request.path == "/broken":
                    raise ValueError("while cleaning up") from None
                raise

        host, guest = await self.serving(handler)
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            for id, path in enumerate(("/a", "/b", "/broken")):
                host.ask(id, path)
            await host.settled()
            await self.leave(host, guest)
        self.assertEqual(sorted(seen), ["/a", "/b", "/broken"])
        self.assertEqual([message for message in host.messages if message["type"] == "response"], [])
        self.assertEqual(told.getvalue().count("Traceback"), 1)
        self.assertIn("ValueError: while cleaning up", told.getvalue())

    async def test_one_that_does_not_stop_holds_up_nobody_for_long(self) -> None:
        stop = asyncio.Event()

        async def handler(request: HttpRequest) -> None:
            while not stop.is_set():
                with contextlib.suppress(asyncio.CancelledError):
                    await stop.wait()

        host, guest = await self.serving(handler)
        host.ask(1)
        await host.settled()
        await self.leave(host, guest)
        stop.set()

    async def test_ends_with_a_host_that_has_gone(self) -> None:
        seen: list[str] = []

        async def handler(request: HttpRequest) -> None:
            try:
                await asyncio.sleep(1000)
            finally:
                seen.append("cleaned up")

        host, guest = await self.serving(handler)
        host.ask(1)
        await host.settled()
        await host.close()
        self.assertFalse((await asyncio.wait_for(guest.done, 10)).ok)
        self.assertEqual(seen, ["cleaned up"])

    async def test_a_handler_that_takes_too_long_is_stopped_and_told_where(self) -> None:
        async def handler(request: HttpRequest) -> None:
            if request.path == "/own":
                raise TimeoutError("of its own")
            await asyncio.sleep(1000)

        port, told = Port(), io.StringIO()
        tasks = RequestTasks(handler, port, limit_s=0.05)
        with contextlib.redirect_stderr(told):
            tasks.add(1, HttpRequest("POST", "/slow"))
            tasks.add(2, HttpRequest("GET", "/own"))
            await until(lambda: len(port.answers) == 2 or None)
        slow, own = port.answers[1], port.answers[2]
        assert isinstance(slow, BotError)
        self.assertEqual(slow.code, "not_answered")
        self.assertRegex(str(slow), "POST /slow was not answered within 0.05 seconds.*task of its own")
        self.assertRegex(told.getvalue(), r"in handler\n    await asyncio.sleep\(1000\)")
        self.assertEqual(repr(own), "TimeoutError('of its own')")

    async def test_an_application_may_go_on_after_its_answer(self) -> None:
        seen: list[str] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 202})
            await send({"type": "http.response.body"})
            try:
                await asyncio.sleep(0.3)
                seen.append(scope["path"])
                if scope["path"] == "/broken":
                    raise ValueError("in the background")
                await asyncio.sleep(1000)
            finally:
                seen.append("stopped")

        port, told = Port(), io.StringIO()
        tasks = RequestTasks(asgi(app), port, limit_s=0.1)
        with contextlib.redirect_stderr(told):
            for id, path in enumerate(("/works", "/broken")):
                tasks.add(id, HttpRequest("GET", path))
            await until(lambda: len(port.answers) == 2 or None)
            self.assertEqual(seen, [])
            await until(lambda: "stopped" in seen or None)
            await tasks.stopped(10)
        self.assertEqual(sorted(seen), ["/broken", "/works", "stopped", "stopped"])
        self.assertEqual([answer["status"] for answer in port.answers.values()], [202, 202])
        self.assertRegex(told.getvalue(), r"(?s)^Traceback.*in app\n.*ValueError: in the background\n$")

    async def test_a_bot_that_cancels_everything_it_finds_still_answers(self) -> None:
        async def handler(request: HttpRequest) -> str | None:
            if request.path == "/all":
                for task in asyncio.all_tasks():
                    if task.get_name().startswith("request-") and task is not asyncio.current_task():
                        task.cancel()
                return "done"
            await asyncio.sleep(1000)
            return None

        host, guest = await self.serving(handler)
        with contextlib.redirect_stderr(io.StringIO()):
            # The last one has not even begun when it is cancelled.
            for id, path in enumerate(("/wait", "/all", "/wait")):
                host.ask(id, path)
            answers = [await host.answer(id) for id in range(3)]
        self.assertEqual(answers[1].body, b"done")
        for answer in (answers[0], answers[2]):
            assert answer.error is not None
            self.assertEqual(answer.error["name"], "CancelledError")
        await self.leave(host, guest)

    async def test_nothing_is_destroyed_that_is_pending(self) -> None:
        async def handler(request: HttpRequest) -> None:
            await asyncio.sleep(1000)

        complaints: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            host, guest = await self.serving(handler)
            for id in range(16):
                host.ask(id)
            # Some have begun when the end comes, some have not.
            host.cancel(200)
            await host.message("end")
            await host.close()
            await asyncio.wait_for(guest.done, 10)
            del handler, guest
            gc.collect()
        self.assertEqual((complaints, [str(warning.message) for warning in caught]), ([], []))


if __name__ == "__main__":
    unittest.main()
