from __future__ import annotations

import asyncio
import copy
import unittest
from typing import Any

from support.host import until
from support.session import SessionTest

from botcli import BotError, HttpRequest, RunnerArguments, TransportParams, create_transport, serve


class ServingTest(SessionTest):
    async def failure(self, *handlers: Any) -> dict[str, Any]:
        """How a bot fails that serves so."""

        async def bot(args: Any) -> None:
            for handler in handlers:
                serve(args, handler)

        host, _ = await self.run_bot(bot)
        end = await host.message("end")
        self.assertEqual(end["outcome"], "failed")
        return end["error"]

    async def test_what_is_wrong_with_a_call_is_said(self) -> None:
        async def handler(request: HttpRequest) -> None:
            pass

        async def app(scope: Any, receive: Any, send: Any) -> None:
            pass

        error = await self.failure(handler, handler)
        self.assertIn("serve() was called twice", error["message"])
        self.assertIn("test_serving.py", error["stack"])
        self.assertNotIn("botcli/serving.py", error["stack"])
        self.assertIn("of type NoneType, which is no function", (await self.failure(None))["message"])
        for wrong in (app, lambda: "x"):
            self.assertRegex((await self.failure(wrong))["message"], "called with a request .*asgi.app.")
        for args in (RunnerArguments(), object()):
            with self.assertRaisesRegex(BotError, "very object") as raised:
                serve(args, handler)
            self.assertEqual(raised.exception.code, "unknown_session")

    async def test_codes_for_a_second_call_a_copy_and_an_ended_session(self) -> None:
        codes: list[str] = []

        def attempt(args: object) -> None:
            try:
                serve(args, lambda request: None)
            except BotError as error:
                codes.append(error.code)

        async def bot(args: Any) -> None:
            transport = await create_transport(args, {"webrtc": TransportParams})
            attempt(copy.copy(args))
            attempt(args)
            attempt(args)
            await transport.wait_ended()
            attempt(args)

        host, _ = await self.run_bot(bot)
        await host.message("serving")
        host.cancel()
        await host.message("end")
        await until(lambda: len(codes) == 3 or None)
        self.assertEqual(codes, ["unknown_session", "already_serving", "session_ended"])

    async def test_a_request_that_nobody_said_to_serve_is_no_sense(self) -> None:
        async def bot(args: Any) -> None:
            await asyncio.sleep(1000)

        host, guest = await self.run_bot(bot)
        host.ask(1)
        result = await asyncio.wait_for(guest.done, 10)
        self.assertIn("a bot that serves none", result.message or "")


if __name__ == "__main__":
    unittest.main()
