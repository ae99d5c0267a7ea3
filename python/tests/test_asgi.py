from __future__ import annotations

import asyncio
import unittest
from typing import Any

from support import SOURCE_FOLDER as _  # noqa: F401

from botcli import BotError, Headers, HttpRequest, asgi
from botcli.http_request import MAX_BODY_BYTES

START: dict[str, Any] = {"type": "http.response.start", "status": 200, "headers": []}
BODY: dict[str, Any] = {"type": "http.response.body"}
REQUEST = HttpRequest("GET", "/")


def saying(*messages: dict[str, Any]) -> Any:
    """An application that says the same to everybody."""

    async def app(scope: Any, receive: Any, send: Any) -> None:
        for message in messages:
            await send(message)

    return app


class AsgiTest(unittest.IsolatedAsyncioTestCase):
    async def test_an_application_gets_the_request_as_from_a_server(self) -> None:
        scopes: list[dict[str, Any]] = []
        received: list[Any] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            scopes.append(scope)
            received.append(await receive())
            await send({**START, "status": 201, "headers": [(b"x-a", b"\xfc"), (b"x-a", b"2")]})
            await send({**BODY, "body": b"one ", "more_body": True})
            await send({**BODY, "body": b"two"})
            received.append(await receive())

        headers = Headers([("Host", "localhost"), ("X-B", "ü"), ("x-b", "2")])
        response = await asgi(app)(HttpRequest("post", "/caf%C3%A9/a%2Fb", "q=a%20b", headers, b"body"))
        self.assertEqual((response.status, response.body), (201, b"one two"))
        self.assertEqual(response.headers, [("x-a", "ü"), ("x-a", "2")])
        self.assertEqual(
            scopes[0],
            {
                "type": "http",
                "asgi": {"version": "3.0", "spec_version": "2.4"},
                "http_version": "1.1",
                "method": "POST",
                "scheme": "http",
                "path": "/café/a/b",
                "raw_path": b"/caf%C3%A9/a%2Fb",
                "root_path": "",
                "query_string": b"q=a%20b",
                "headers": [(b"host", b"localhost"), (b"x-b", b"\xfc"), (b"x-b", b"2")],
                "client": None,
                "server": None,
                "state": {},
                "extensions": {},
            },
        )
        request = {"type": "http.request", "body": b"body", "more_body": False}
        self.assertEqual(received, [request, {"type": "http.disconnect"}])

    async def test_nobody_is_told_to_have_left_before_the_answer_is_complete(self) -> None:
        seen: list[str] = []

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await receive()

            async def listen() -> None:
                seen.append((await receive())["type"])

            listening = asyncio.create_task(listen())
            await send(START)
            for _piece in range(5):
                await asyncio.sleep(0)
                await send({**BODY, "body": b"x", "more_body": True})
                self.assertEqual(seen, [])
            await send(BODY)
            await listening

        self.assertEqual((await asgi(app)(REQUEST)).body, b"xxxxx")
        self.assertEqual(seen, ["http.disconnect"])

    async def test_how_an_answer_is_cut_into_pieces_is_not_the_applications_business(self) -> None:
        headers = [(b"Transfer-Encoding", b"chunked"), (b"x", b"y")]
        response = await asgi(saying({**START, "headers": headers}, BODY))(REQUEST)
        self.assertEqual(response.headers, [("x", "y")])

    async def test_an_application_that_does_not_keep_to_the_rules_is_told(self) -> None:
        half = {**BODY, "body": bytes(MAX_BODY_BYTES // 2 + 1), "more_body": True}
        for messages, code, problem in (
            ((), "not_answered", "returned without a complete answer to GET /"),
            ((START,), "not_answered", "without a complete answer"),
            ((START, {**BODY, "more_body": True}), "not_answered", "without a complete answer"),
            ((BODY,), "invalid_response", "'http.response.body' out of turn"),
            ((START, START), "invalid_response", "'http.response.start' out of turn"),
            ((START, BODY, BODY), "invalid_response", "'http.response.body' out of turn"),
            (({"type": "websocket.accept"},), "invalid_response", "'websocket.accept' out of turn"),
            ((START, half, half), "invalid_response", "may have 524288 bytes"),
        ):
            with self.subTest(problem), self.assertRaisesRegex(BotError, problem) as raised:
                await asgi(saying(*messages))(REQUEST)
            self.assertEqual(raised.exception.code, code)

    async def test_what_it_raises_is_raised(self) -> None:
        async def app(scope: Any, receive: Any, send: Any) -> None:
            await send(START)
            raise KeyError("in the application")

        with self.assertRaisesRegex(KeyError, "in the application"):
            await asgi(app)(REQUEST)

    def test_what_is_no_application_is_refused(self) -> None:
        def wsgi(environ: Any, start_response: Any) -> None:
            pass

        for wrong in (wsgi, lambda request: None, None, "app"):
            with self.assertRaisesRegex(BotError, "application of ASGI 3") as raised:
                asgi(wrong)  # type: ignore[arg-type]
            self.assertEqual(raised.exception.code, "invalid_handler")


if __name__ == "__main__":
    unittest.main()
