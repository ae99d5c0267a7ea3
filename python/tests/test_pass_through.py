from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any

from support.host import Host, until
from support.session import SessionTest

from botcli.guest.guest import Guest
from botcli.session_port import session_of
from botcli.stand_in_websocket import StandInWebSocket

WEBSOCKET: dict[str, Any] = {
    "path": "/ws",
    "query": "kind=test&a=%20b",
    "remoteAddress": "192.0.2.7",
    "headers": {"origin": "https://example.com", "Host": "bots.example.com"},
}


def socket_of(args: Any) -> Any:
    session = session_of(args)
    assert session is not None and session.socket is not None and session.start.websocket is not None
    return StandInWebSocket(session.socket, session.start.websocket)


class PassedSocketTest(SessionTest):
    async def run_bot(self, bot: Any, **start: Any) -> tuple[Host, Guest]:
        options = {"transport": "websocket", "passThrough": True, "websocket": WEBSOCKET, **start}
        return await super().run_bot(bot, **options)

    async def test_messages_go_both_ways_in_their_order_and_as_they_are(self) -> None:
        async def bot(args: Any) -> None:
            websocket = socket_of(args)
            while True:
                event = await websocket.receive()
                if event["type"] == "websocket.disconnect":
                    return
                await websocket.send({**event, "type": "websocket.send"})

        host, _ = await self.run_bot(bot)
        said: list[str | bytes] = ["Grüße \0", b"\0\xff", "", b"", "x" * 1_000_000, b"y" * 1024 * 1024]
        for message in said:
            host.pass_on(message)
        await until(lambda: len(host.socket) == len(said))
        self.assertEqual(host.socket, said)
        host.cancel()
        await host.message("end")

    async def test_what_the_bot_has_taken_is_confirmed_and_nothing_else(self) -> None:
        take = asyncio.Semaphore(0)

        async def bot(args: Any) -> None:
            websocket = socket_of(args)
            while True:
                await take.acquire()
                await websocket.receive_text()

        host, _ = await self.run_bot(bot)
        for number in range(12):
            host.pass_on(str(number))
        await host.settled()
        self.assertEqual(host.heard, [])
        for _ in range(4):
            take.release()
        await host.settled()
        self.assertEqual(host.heard, [])
        take.release()
        await until(lambda: host.heard == [5])
        for _ in range(7):
            take.release()
        # At each fifth, and when there is nothing left.
        await until(lambda: host.heard == [5, 10, 12])
        host.cancel(200)
        await host.message("end")

    async def test_a_bot_waits_for_a_caller_that_is_slow(self) -> None:
        for size, at_most in ((500_000, 2), (1024 * 1024, 1), (10, 100)):
            await self.runs_ahead(size, at_most)

    async def runs_ahead(self, size: int, at_most: int) -> None:
        sent = 0

        async def bot(args: Any) -> None:
            nonlocal sent
            websocket = socket_of(args)
            for _ in range(300):
                await websocket.send_bytes(bytes(size))
                sent += 1

        host, _ = await self.run_bot(bot)
        host.takes_at_once = False
        await until(lambda: len(host.socket) == at_most)
        await host.settled()
        self.assertEqual((sent, len(host.socket)), (at_most, at_most))
        host.take(1)
        await until(lambda: len(host.socket) == at_most + 1)
        await host.settled()
        self.assertEqual(sent, at_most + 1)
        host.takes_at_once = True
        host.take(at_most + 1)
        await host.message("end")
        self.assertEqual((sent, len(host.socket)), (300, 300))

    async def test_who_waits_to_send_keeps_its_place_and_hears_when_the_caller_leaves(self) -> None:
        results: list[Any] = []

        async def bot(args: Any) -> None:
            websocket = socket_of(args)
            for number in range(100):
                await websocket.send_text(str(number))
            sends = [asyncio.create_task(websocket.send_text(str(number))) for number in range(100, 110)]
            await asyncio.sleep(0)
            sends[1].cancel()
            results.extend(await asyncio.gather(*sends, return_exceptions=True))

        host, _ = await self.run_bot(bot)
        host.takes_at_once = False
        await until(lambda: len(host.socket) == 100)
        host.take(3)
        await until(lambda: len(host.socket) == 103)
        host.cancel()
        await host.message("end")
        self.assertEqual(host.socket[100:], ["100", "102", "103"])
        self.assertEqual(
            [type(result).__name__ for result in results[:4]], ["NoneType", "CancelledError", *["NoneType"] * 2]
        )
        self.assertEqual(
            {(type(result).__name__, result.code) for result in results[4:]}, {("WebSocketDisconnect", 1006)}
        )

    async def test_a_bot_that_does_not_wait_gets_an_error_in_time(self) -> None:
        for size in (1, 100_000):
            await self.does_not_wait(size)

    async def does_not_wait(self, size: int) -> None:
        errors: list[Any] = []
        kept = 0

        async def bot(args: Any) -> None:
            nonlocal kept
            websocket = socket_of(args)
            sends = [asyncio.create_task(websocket.send_bytes(bytes(size))) for _ in range(2000)]
            await asyncio.sleep(0)
            errors.extend(send.exception() for send in sends if send.done() and send.exception())
            kept = 2000 - len(errors)
            await asyncio.gather(*sends, return_exceptions=True)

        host, _ = await self.run_bot(bot)
        host.takes_at_once = False
        await until(lambda: errors or None)
        self.assertEqual({getattr(error, "code", None) for error in errors}, {"flooded"})
        self.assertLess(kept * size, 10 * 1024 * 1024)
        self.assertLessEqual(kept, 1100)
        host.takes_at_once = True
        host.take(len(host.socket))
        await host.message("end")
        self.assertEqual(len(host.socket), kept)

    async def test_a_close_goes_behind_what_was_sent_without_waiting(self) -> None:
        async def bot(args: Any) -> None:
            websocket = socket_of(args)
            for number in range(150):
                asyncio.create_task(websocket.send_text(str(number)))
            await asyncio.sleep(0)
            await websocket.close(4000)

        host, _ = await self.run_bot(bot)
        host.takes_at_once = False
        await until(lambda: len(host.socket) == 100)
        await host.settled()
        self.assertFalse([m for m in host.messages if m["type"] == "socket-close"])
        host.take(100)
        await host.message("socket-close")
        self.assertEqual(len(host.socket), 150)

    async def test_a_host_that_confirms_what_was_never_sent_is_broken(self) -> None:
        async def bot(args: Any) -> None:
            await asyncio.sleep(1000)

        host, guest = await self.run_bot(bot)
        host.take(1)
        result = await asyncio.wait_for(guest.done, 10)
        self.assertIn("fewer were sent", result.message or "")

    async def test_how_the_caller_closed_its_socket_is_told_after_its_last_words(self) -> None:
        seen: list[Any] = []

        async def bot(args: Any) -> None:
            websocket = socket_of(args)
            await asyncio.sleep(0.1)
            try:
                while True:
                    seen.append(await websocket.receive_text())
            except Exception as error:
                seen.append((type(error).__name__, error.code, error.reason))  # type: ignore[attr-defined]

        host, _ = await self.run_bot(bot)
        host.pass_on("last")
        host.send("socket-closed", code=4001, reason="my reason")
        host.cancel()
        await host.message("end")
        self.assertEqual(seen, ["last", ("WebSocketDisconnect", 4001, "my reason")])

    async def test_text_is_not_bytes_and_bytes_are_no_text(self) -> None:
        seen: list[Any] = []

        async def bot(args: Any) -> None:
            websocket = socket_of(args)
            takes = [
                websocket.receive_text,
                websocket.receive_json,
                websocket.receive_bytes,
                lambda: websocket.receive_json(mode="binary"),
                lambda: websocket.receive_json(mode="binary"),
                lambda: websocket.receive_json(mode="other"),
            ]
            for take in takes:
                try:
                    seen.append(await take())
                except (KeyError, RuntimeError) as error:
                    seen.append(repr(error)[:20])

        host, _ = await self.run_bot(bot)
        for message in (b"1", b"2", "3", "4", b"5"):
            host.pass_on(message)
        await host.message("end")
        self.assertEqual(seen, ["KeyError('text')"] * 2 + ["KeyError('bytes')"] * 2 + [5, "RuntimeError('The \"m"])

    async def test_no_eval_gets_in_by_another_way(self) -> None:
        connect = {"label": "rtvi-ai", "type": "client-message", "data": {"t": "eval-connect"}}
        seen: list[Any] = []

        async def bot(args: Any) -> None:
            session = session_of(args)
            assert session is not None and session.socket is not None and session.start.websocket is not None
            websocket: Any = StandInWebSocket(session.socket, session.start.websocket, evals=False)
            seen.append(await websocket.receive())

        spelled = json.dumps(connect)
        for message in (spelled, spelled.encode(), spelled.replace("{", '{"x": NaN, ', 1)):
            host, _ = await self.run_bot(bot, transport="telephony_a")
            host.pass_on(message)
            self.assertEqual((await host.message("socket-close"))["code"], 1008)
            await host.message("end")
            self.assertEqual(seen.pop()["type"], "websocket.disconnect")
        for other in (
            '{"event":"connected"}',
            json.dumps({**connect, "data": {"t": "x"}}),
            json.dumps({**connect, "label": "x"}),
        ):
            host, _ = await self.run_bot(bot, transport="telephony_a")
            host.pass_on(other)
            await host.message("end")
            self.assertEqual(seen.pop()["text"], other)

    async def test_the_callers_leaving_is_told_after_its_last_words(self) -> None:
        seen: list[Any] = []

        async def bot(args: Any) -> None:
            websocket = socket_of(args)
            go = asyncio.Event()
            asyncio.get_running_loop().call_later(0.2, go.set)
            await go.wait()
            seen.extend([text async for text in websocket.iter_text()])
            try:
                await websocket.send_text("too late")
            except Exception as error:
                seen.append((type(error).__name__, error.code))  # type: ignore[attr-defined]
            try:
                await websocket.receive()
            except RuntimeError as error:
                seen.append(str(error))

        host, _ = await self.run_bot(bot)
        host.pass_on("one")
        host.pass_on('{"event":"stop"}')
        host.cancel()
        self.assertEqual((await host.message("end"))["outcome"], "returned")
        self.assertEqual(seen[:2], ["one", '{"event":"stop"}'])
        self.assertEqual(seen[2], ("WebSocketDisconnect", 1006))
        self.assertIn("once a disconnect message", seen[3])
        self.assertEqual(host.socket, [])

    async def test_a_bot_may_close_the_socket(self) -> None:
        seen: list[Any] = []

        async def bot(args: Any) -> None:
            websocket = socket_of(args)
            await websocket.accept()
            await websocket.send_json({"a": "ü"})
            await websocket.send_json([1], mode="binary")
            await websocket.close(4001, "enough")
            seen.append(await websocket.receive())
            try:
                await websocket.close()
            except RuntimeError as error:
                seen.append(str(error))

        host, _ = await self.run_bot(bot)
        self.assertEqual(await host.message("socket-close"), {"type": "socket-close", "code": 4001, "reason": "enough"})
        await host.message("end")
        self.assertEqual(host.socket, ['{"a":"ü"}', b"[1]"])
        self.assertEqual(seen[0], {"type": "websocket.disconnect", "code": 4001, "reason": "enough"})
        self.assertIn("close message", seen[1])

    async def test_a_message_that_is_too_long_for_the_link_is_an_error_of_the_bot(self) -> None:
        async def bot(args: Any) -> None:
            await socket_of(args).send_text("ü" * 600_000)

        host, _ = await self.run_bot(bot)
        self.assertIn("1048576 bytes", (await host.message("end"))["error"]["message"])

    async def test_the_request_is_there(self) -> None:
        seen: dict[str, Any] = {}

        async def bot(args: Any) -> None:
            websocket = socket_of(args)
            seen.update(
                origin=websocket.headers.get("origin"),
                host=websocket.headers["host"],
                path=websocket.url.path,
                query=dict(websocket.query_params),
                client=websocket.client.host,
                scope=websocket.scope["type"],
                states=(websocket.client_state.name, websocket.application_state.name),
            )
            seen["url"] = str(websocket.url) if hasattr(websocket.url, "replace") else websocket.url.geturl()
            seen["json"] = await websocket.receive_json()
            # What others keep on it stays on it.
            websocket.note = 1
            seen["note"] = getattr(websocket, "note", None)
            seen["none"] = getattr(websocket, "_unknown", None)

        host, _ = await self.run_bot(bot)
        host.pass_on(json.dumps({"a": 1}))
        await host.message("end")
        expected = {
            "origin": "https://example.com",
            "host": "bots.example.com",
            "path": "/ws",
            "query": {"kind": "test", "a": " b"},
            "url": "ws://bots.example.com/ws?kind=test&a=%20b",
            "client": "192.0.2.7",
            "scope": "websocket",
            "states": ("CONNECTED", "CONNECTED"),
            "json": {"a": 1},
            "note": 1,
            "none": None,
        }
        self.assertEqual(seen, expected)

    async def test_text_that_is_none_breaks_the_link(self) -> None:
        async def bot(args: Any) -> None:
            await asyncio.sleep(1000)

        host, guest = await self.run_bot(bot)
        host.raw(b"\6\0\0\0\2\xff\xfe")
        result = await asyncio.wait_for(guest.done, 10)
        self.assertIn("not UTF-8", result.message or "")

    async def test_an_evaluation_is_passed_on_to_a_bot_of_ours_too(self) -> None:
        seen: list[Any] = []

        async def bot(args: Any) -> None:
            seen.append(args.transport_type)
            await socket_of(args).send_text(await socket_of(args).receive_text())

        host, _ = await self.run_bot(bot, transport="eval")
        host.pass_on("hello")
        await host.message("end")
        self.assertEqual((seen, host.socket), (["eval"], ["hello"]))


if __name__ == "__main__":
    unittest.main()
