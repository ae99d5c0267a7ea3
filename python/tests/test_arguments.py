from __future__ import annotations

import copy
import dataclasses
import unittest
from typing import Any

import support  # noqa: F401

from botcli import (
    PhoneCall,
    RoomRunnerArguments,
    RunnerArguments,
    WebRTCConnection,
    WebRTCRunnerArguments,
    WebSocketConnection,
    WebSocketRunnerArguments,
)
from botcli.arguments import arguments_of
from botcli.link.bot_start import bot_start_of
from botcli.session_port import register_session, session_of


def arguments(transport: str, **more: Any) -> RunnerArguments:
    return arguments_of(bot_start_of({"sessionId": "s", "transport": transport, "body": {"a": 1}, **more}))


WEBSOCKET = {"path": "/ws", "remoteAddress": "127.0.0.1"}


class ArgumentsTest(unittest.TestCase):
    def test_each_variant_has_its_fields(self) -> None:
        room = arguments("room", room={"roomUrl": "https://x/room", "token": "secret"})
        self.assertEqual(
            room, RoomRunnerArguments(session_id="s", body={"a": 1}, room_url="https://x/room", token="secret")
        )
        self.assertNotIn("secret", repr(room))
        webrtc = arguments("webrtc", webrtc={"pcId": "p"})
        self.assertEqual(
            webrtc, WebRTCRunnerArguments(session_id="s", body={"a": 1}, webrtc_connection=WebRTCConnection("p"))
        )
        call = {
            "callId": "c", "streamId": "t", "from": "+1", "custom": {"k": "v"}, "codec": "pcmu", "rate": 8000,
        }  # fmt: skip
        phone = arguments("telephony_b", websocket=WEBSOCKET, call=call)
        self.assertEqual(
            phone,
            WebSocketRunnerArguments(
                session_id="s",
                body={"a": 1},
                websocket=WebSocketConnection("/ws", "127.0.0.1"),
                transport_type="telephony_b",
                call=PhoneCall("c", "t", "pcmu", 8000, "+1", None, {"k": "v"}),
            ),
        )
        self.assertIsNone(arguments("websocket", websocket=WEBSOCKET).call)
        self.assertIs(type(arguments("webrtc")), RunnerArguments)
        for args in (room, webrtc, phone):
            self.assertEqual((args.handle_sigint, args.handle_sigterm, args.session_id), (False, False, "s"))

    def test_a_field_of_another_variant_is_an_error_that_names_both(self) -> None:
        args = arguments("room", room={"roomUrl": "u"})
        with self.assertRaisesRegex(AttributeError, "WebRTCRunnerArguments.*RoomRunnerArguments"):
            args.webrtc_connection
        with self.assertRaisesRegex(AttributeError, "no attribute 'nonsense'"):
            args.nonsense
        self.assertFalse(hasattr(args, "websocket"))
        self.assertTrue(hasattr(args, "room_url"))
        self.assertEqual(RunnerArguments().body, {})

    def test_only_the_arguments_themselves_know_their_session(self) -> None:
        args = arguments("webrtc", webrtc={"pcId": "p"})
        port: Any = object()
        register_session(args, port)
        self.assertIs(session_of(args), port)
        for other in (copy.copy(args), copy.deepcopy(args), dataclasses.replace(args)):
            self.assertEqual(other, args)
            self.assertIsNone(session_of(other))
        self.assertEqual(set(dataclasses.asdict(args)), {
            "session_id", "body", "handle_sigint", "handle_sigterm", "webrtc_connection",
        })  # fmt: skip


if __name__ == "__main__":
    unittest.main()
