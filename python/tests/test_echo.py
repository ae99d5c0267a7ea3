from __future__ import annotations

import runpy
import unittest
from typing import Any

from support import PYTHON_FOLDER
from support.host import until
from support.session import SessionTest

from botcli import TRANSPORT_IDS

ECHO = PYTHON_FOLDER.parent / "examples" / "echo-python" / "bot.py"
#: Not imported, so that nothing is written beside it.
echo = runpy.run_path(str(ECHO), run_name="echo")

SOUND = b"".join(index.to_bytes(2, "little") for index in range(320))


class EchoTest(SessionTest):
    async def call(self, transport: str = "webrtc") -> Any:
        websocket = {"path": "/ws", "remoteAddress": "127.0.0.1"}
        host, _ = await self.run_bot(echo["bot"], transport=transport, websocket=websocket)
        await host.message("format")
        return host

    async def hang_up(self, host: Any) -> None:
        host.cancel()
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})

    async def test_echoes_sound_keys_and_messages_on_every_transport(self) -> None:
        for transport in TRANSPORT_IDS:
            if transport == "room":
                continue
            with self.subTest(transport):
                host = await self.call(transport)
                host.playback(0, 0, 16_000)
                host.audio_in(0, SOUND)
                host.send("dtmf", keys="5#")
                host.say({"any": "thing"})
                await until(lambda: host.sound or None)
                await host.settled()
                self.assertEqual(host.sound, [(0, SOUND)])
                self.assertEqual(host.said, [{"any": "thing"}])
                self.assertIn({"type": "dtmf", "keys": "5#"}, host.messages)
                await self.hang_up(host)

    async def test_answers_requests_and_typed_text(self) -> None:
        host = await self.call()
        host.say({"label": "rtvi-ai", "type": "client-message", "id": "id-1", "data": {"t": "ask", "d": [1, 2]}})
        host.say({"label": "rtvi-ai", "type": "send-text", "id": "id-2", "data": {"content": "hello"}})
        await until(lambda: len(host.said) == 3 or None)
        self.assertEqual([said["type"] for said in host.said], ["server-response", "user-input", "bot-output"])
        self.assertEqual((host.said[0]["id"], host.said[0]["data"]), ("id-1", {"t": "ask", "d": [1, 2]}))
        self.assertEqual((host.said[2]["data"]["text"], host.said[2]["data"]["spoken"]), ("hello", False))
        await self.hang_up(host)

    async def echoed(self, arrivals: list[tuple[int, bytes]]) -> int:
        """Lets the bot hear all this before any of it is played, and gives how many bytes it sends back."""
        host = await self.call("websocket")
        for at, audio in arrivals:
            host.audio_in(at, audio)
        await host.settled()
        host.playback(0, 0, 160_000)
        await host.settled()
        await self.hang_up(host)
        return sum(len(audio) for _, audio in host.sound)

    async def test_leaves_sound_out_when_it_would_be_late(self) -> None:
        sent = await self.echoed([(0, SOUND)] * 50)
        self.assertGreater(sent, 0)
        self.assertLessEqual(sent, 2 * 16 * 220)

    async def test_gives_back_every_sample_of_a_client_that_sends_long_chunks(self) -> None:
        self.assertEqual(await self.echoed([(index * 40, bytes(1280)) for index in range(20)]), 20 * 1280)


if __name__ == "__main__":
    unittest.main()
