from __future__ import annotations

import asyncio
import json
import unittest
from typing import Any

from support.host import Host, until
from support.session import SessionTest

from botcli.errors import BotError
from botcli.guest.guest import Guest
from botcli.passed_peer import PassedPeer
from botcli.session_port import session_of
from botcli.stand_in_websocket import StandInWebSocket

WEBSOCKET: dict[str, Any] = {
    "path": "/ws?kind=test",
    "remoteAddress": "192.0.2.7",
    "headers": {"origin": "https://example.com", "Host": "bots.example.com"},
}


def socket_of(args: Any) -> Any:
    session = session_of(args)
    assert session is not None and session.socket is not None and session.start.websocket is not None
    return StandInWebSocket(session.socket, session.start.websocket)


def peer_of(args: Any) -> PassedPeer:
    session = session_of(args)
    assert session is not None and session.peer is not None
    return session.peer


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

    async def test_a_bot_waits_for_a_host_that_does_not_read(self) -> None:
        sent = 0

        async def bot(args: Any) -> None:
            nonlocal sent
            websocket = socket_of(args)
            for _ in range(100):
                await websocket.send_bytes(bytes(500_000))
                sent += 1

        host, _ = await self.run_bot(bot)
        await host.message("ready")
        reading = host._reading
        host._reader._transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.sleep(0.3)
        self.assertLess(sent, 20)
        host._reader._transport.resume_reading()  # type: ignore[attr-defined]
        await host.message("end")
        self.assertEqual((sent, len(host.socket), reading.done()), (100, 100, False))

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
            seen["json"] = await websocket.receive_json()
            seen["bytes"] = await websocket.receive_bytes()
            # What others keep on it stays on it.
            websocket.note = 1
            seen["note"] = getattr(websocket, "note", None)
            seen["none"] = getattr(websocket, "_unknown", None)

        host, _ = await self.run_bot(bot)
        host.pass_on(json.dumps({"a": 1}))
        host.pass_on("text")
        await host.message("end")
        expected = {
            "origin": "https://example.com",
            "host": "bots.example.com",
            "path": "/ws",
            "query": {"kind": "test"},
            "client": "192.0.2.7",
            "scope": "websocket",
            "states": ("CONNECTED", "CONNECTED"),
            "json": {"a": 1},
            "bytes": b"text",
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


class PassedPeerTest(SessionTest):
    async def run_bot(self, bot: Any, **start: Any) -> tuple[Host, Guest]:
        host, guest = await self.guest(grace_s=2.0)
        guest.ready(bot)
        host.send(
            "start",
            start={"sessionId": "s", "transport": "webrtc", "body": {}, "passThrough": True, **start},
        )
        return host, guest

    async def test_offers_and_candidates_come_in_their_order(self) -> None:
        seen: list[Any] = []

        async def bot(args: Any) -> None:
            peer = peer_of(args)
            async for signal in peer.signals():
                seen.append(signal)
                if len(seen) == 1:
                    peer.answer(signal, "answer", "pc-1")  # type: ignore[arg-type]
                elif len(seen) == 3:
                    peer.refuse(signal, BotError("invalid_params", "no"))  # type: ignore[arg-type]
                    peer.state("closed")

        host, _ = await self.run_bot(bot)
        host.send("offer", id=7, sdp="v=0", restart=False)
        host.send("candidates", candidates=[{"candidate": "", "mid": "0"}, {"candidate": "c", "mid": "1"}])
        host.send("offer", id=8, sdp="v=1", restart=True)
        await host.message("peer")
        answers = [m for m in host.messages if m["type"] == "answer"]
        self.assertEqual(answers[0], {"type": "answer", "id": 7, "sdp": "answer", "pcId": "pc-1"})
        self.assertEqual(answers[1]["id"], 8)
        self.assertEqual((answers[1]["error"]["name"], answers[1]["error"]["message"]), ("BotError", "no"))
        self.assertEqual([c.mid for c in seen[1].candidates], ["0", "1"])
        self.assertEqual((seen[2].sdp, seen[2].restart), ("v=1", True))
        host.cancel()
        self.assertEqual((await host.message("end"))["outcome"], "returned")


if __name__ == "__main__":
    unittest.main()
