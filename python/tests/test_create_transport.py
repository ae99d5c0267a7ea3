from __future__ import annotations

import sys
import types
import unittest
from typing import Any
from unittest import mock

from support.session import SessionTest

from botcli import BotError, RunnerArguments, TransportParams, create_transport


class CreateTransportTest(SessionTest):
    async def failure(self, factories: Any, times: int = 1, **start: Any) -> dict[str, Any]:
        """How a bot fails that makes its transport so."""

        async def bot(args: Any) -> None:
            for _ in range(times):
                await create_transport(args, factories)

        host, _ = await self.run_bot(bot, **start)
        end = await host.message("end")
        self.assertEqual(end["outcome"], "failed")
        return end["error"]

    async def test_what_goes_wrong_is_said(self) -> None:
        error = await self.failure({"websocket": TransportParams, "telephony_a": TransportParams})
        self.assertRegex(error["message"], "'webrtc', which this bot does not serve .it serves: websocket, telephony_a")
        self.assertNotIn("transport_factory.py", error["stack"])
        self.assertIn("test_create_transport.py", error["stack"])
        error = await self.failure({"webrtc": TransportParams}, times=2)
        self.assertIn("called twice", error["message"])
        for rate in (7999, 48050, 16001, 16000.0, "16000"):
            error = await self.failure({"webrtc": lambda: TransportParams(audio_in_sample_rate=rate)})
            self.assertIn("audio_in_sample_rate", error["message"])
        error = await self.failure({"webrtc": lambda: {"rate": 5}})
        self.assertIn("gave builtins.dict", error["message"])
        error = await self.failure({"webrtc": lambda: None})
        self.assertIn("gave builtins.NoneType", error["message"])
        with self.assertRaisesRegex(BotError, "very object"):
            await create_transport(RunnerArguments(), {"webrtc": TransportParams})

    async def test_a_name_that_no_transport_has_is_told_with_the_one_that_was_meant(self) -> None:
        for name, meant in (("twilio", "telephony_a"), ("websockets", "websocket"), ("daily", "room")):
            error = await self.failure({"webrtc": TransportParams, name: TransportParams})
            self.assertRegex(error["message"], f"'{name}' is not the name .* did you mean '{meant}'")
        error = await self.failure({"fax": TransportParams})
        self.assertRegex(error["message"], "'fax' is not the name of a transport. There are webrtc, ")

    async def test_a_room_needs_the_room_transport_of_pipecat(self) -> None:
        for factories in ({"room": TransportParams}, {}):
            error = await self.failure(factories, transport="room", room={"roomUrl": "https://x"})
            self.assertRegex(error["message"], "DailyTransport.*args.room_url and args.token")

    async def test_only_the_factory_that_is_needed_is_called_and_it_may_be_async(self) -> None:
        async def params() -> TransportParams:
            return TransportParams(audio_in_sample_rate=8000)

        def never() -> TransportParams:
            raise AssertionError

        async def bot(args: Any) -> None:
            transport = await create_transport(args, {"telephony_c": params, "webrtc": never})
            transport.rtvi.server_message([transport.type, transport.session_id, args.transport_type])

        websocket = {"path": "/ws", "remoteAddress": ""}
        host, _ = await self.run_bot(bot, transport="telephony_c", websocket=websocket)
        self.assertEqual((await host.message("format"))["inputRate"], 8000)
        await host.message("end")
        self.assertEqual(host.said[0]["data"], ["telephony_c", "session-1", "telephony_c"])

    async def test_parameters_of_another_library_are_handed_to_its_adapter(self) -> None:
        adapter: Any = types.ModuleType("botcli.pipecat")
        params = object()
        made: list[Any] = []

        async def make_transport(session: Any, given: object) -> object:
            return [session.start.transport, given is params]

        adapter.make_transport = make_transport

        async def bot(args: Any) -> None:
            made.append(await create_transport(args, {"webrtc": lambda: params}))

        with mock.patch.dict(sys.modules, {"botcli.pipecat": adapter}):
            host, _ = await self.run_bot(bot)
            await host.message("end")
        self.assertEqual(made, [["webrtc", True]])

    async def test_a_bot_for_another_runner_gets_its_arguments(self) -> None:
        adapter: Any = types.ModuleType("botcli.pipecat")
        theirs = types.SimpleNamespace()
        given: list[Any] = []

        async def make_arguments(session: Any) -> object:
            return theirs

        adapter.make_arguments = make_arguments

        async def bot(args: Any) -> None:
            given.append(args)
            await create_transport(args, {"webrtc": TransportParams})

        with mock.patch.dict(sys.modules, {"botcli.pipecat": adapter}):
            host, guest = await self.guest()
            guest.ready(bot, foreign=True)
            self.assertEqual(await host.message("ready"), {"type": "ready", "passThrough": True})
            host.start()
            self.assertEqual((await host.message("end"))["outcome"], "returned")
        self.assertIs(given[0], theirs)

    async def test_an_evaluation_needs_a_pipeline(self) -> None:
        websocket = {"path": "/ws", "remoteAddress": ""}
        for factories in ({"eval": TransportParams}, {}):
            error = await self.failure(factories, transport="eval", passThrough=True, websocket=websocket)
            self.assertIn("EvalTransportParams", error["message"])


if __name__ == "__main__":
    unittest.main()
