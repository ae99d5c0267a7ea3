from __future__ import annotations

import unittest
from typing import Any

import support  # noqa: F401

from botcli import BotError, Rtvi, RtviRequest, TypedText


def message(type: str, data: Any = None, id: str = "id") -> dict[str, Any]:
    return {"label": "rtvi-ai", "type": type, "id": id, **({} if data is None else {"data": data})}


class RtviTest(unittest.TestCase):
    def setUp(self) -> None:
        self.sent: list[Any] = []
        self.passed: list[Any] = []
        self.keys: list[str] = []
        self.failures: list[BaseException] = []
        self.disconnects = 0
        self.takes_messages = False
        self.rtvi = Rtvi(
            send=self.sent.append,
            pass_on=self.pass_on,
            keys=self.keys.append,
            disconnect=self.disconnect,
            fail=self.failures.append,
        )

    def pass_on(self, given: object) -> bool:
        self.passed.append(given)
        return self.takes_messages

    def disconnect(self) -> None:
        self.disconnects += 1

    def types(self) -> list[str]:
        return [sent["type"] for sent in self.sent]

    def test_answers_a_client_in_its_own_version(self) -> None:
        for version, answered in (("2.2.0", "2.2.0"), ("2.0.0", "2.2.0"), ("1.4.2", "1.4.2")):
            self.sent.clear()
            self.rtvi.receive(message("client-ready", {"version": version}, "ready"))
            self.assertEqual(len(self.sent), 1)
            self.assertEqual((self.sent[0]["type"], self.sent[0]["id"]), ("bot-ready", "ready"))
            self.assertEqual(self.sent[0]["data"]["version"], answered)
            self.assertTrue(self.sent[0]["data"]["capabilities"]["audio_in"])
            self.assertEqual(self.rtvi.client_version, version)

    def test_warns_a_strange_client_and_goes_on(self) -> None:
        for data in ({"version": "3.0.0"}, {"version": 7}, {}, None, [], "x"):
            self.sent.clear()
            self.rtvi.receive(message("client-ready", data))
            self.assertEqual(self.types(), ["error-response", "bot-ready"])
            self.assertEqual(self.sent[1]["data"]["version"], "2.2.0")

    def test_calls_back_once_after_the_answer_and_at_once_when_late(self) -> None:
        seen: list[int] = []
        self.rtvi.on_client_ready(lambda: seen.append(len(self.sent)))
        self.rtvi.receive(message("client-ready", {"version": "2.1.0"}))
        self.rtvi.receive(message("client-ready", {"version": "2.1.0"}))
        self.rtvi.on_client_ready(lambda: seen.append(-1))
        self.assertEqual(seen, [1, -1])

    def test_typed_text(self) -> None:
        texts: list[TypedText] = []
        self.rtvi.on_text(texts.append)
        self.rtvi.receive(message("send-text", {"content": "hello"}))
        options = {"run_immediately": False, "audio_response": False}
        self.rtvi.receive(message("send-text", {"content": "x", "options": options}))
        self.assertEqual(texts, [TypedText("hello", True, True), TypedText("x", False, False)])
        for bad in ({"text": "wrong"}, "hello", None, {"content": "x", "options": 5}):
            self.sent.clear()
            self.rtvi.receive(message("send-text", bad, "bad"))
            self.assertEqual([(sent["type"], sent["id"]) for sent in self.sent], [("error-response", "bad")])

    def test_a_request_is_answered_once_with_its_own_id(self) -> None:
        requests: list[RtviRequest] = []
        self.rtvi.on_request(requests.append)
        self.rtvi.receive(message("client-message", {"t": "weather", "d": {"city": "Oslo"}}, "a"))
        self.rtvi.receive(message("client-message", {"t": "news"}, "b"))
        self.rtvi.receive(message("client-message", {"d": 1}, "c"))
        requests[0].respond({"rain": True})
        requests[1].fail("no news")
        with self.assertRaisesRegex(BotError, "answered already"):
            requests[0].fail("again")
        self.assertEqual([(sent["type"], sent["id"]) for sent in self.sent], [
            ("error-response", "c"), ("server-response", "a"), ("error-response", "b"),
        ])  # fmt: skip
        self.assertEqual(self.sent[1]["data"], {"t": "weather", "d": {"rain": True}})

    def test_what_nobody_listens_to_goes_to_the_bot_or_is_refused(self) -> None:
        self.rtvi.receive({"any": "thing"})
        self.rtvi.receive([1])
        self.assertEqual((self.passed, self.sent), ([{"any": "thing"}, [1]], []))
        for type in ("send-text", "client-message", "something-new"):
            self.rtvi.receive(message(type, {"content": "x", "t": "x"}))
        self.assertEqual(self.types(), ["error-response"] * 3)
        self.takes_messages = True
        self.rtvi.receive(message("something-new"))
        self.assertEqual(len(self.sent), 3)
        self.rtvi.receive({"label": "rtvi-ai", "type": "x"})
        self.assertEqual(self.types()[-1], "error")

    def test_keys_and_goodbye(self) -> None:
        self.rtvi.receive(message("dtmf", {"button": "5"}))
        self.rtvi.receive(message("dtmf", {"buttons": ["1", "#"]}))
        self.assertEqual(self.keys, ["5", "1#"])
        for bad in (None, {}, {"buttons": ["x"]}, {"buttons": "12x"}, {"button": None}):
            self.rtvi.receive(message("dtmf", bad))
        self.assertEqual(self.types(), ["error-response"] * 5)
        self.rtvi.receive(message("disconnect-bot"))
        self.assertEqual(self.disconnects, 1)

    def test_says_what_happens(self) -> None:
        self.rtvi.user_started_speaking()
        self.rtvi.user_stopped_speaking()
        self.rtvi.bot_started_speaking()
        self.rtvi.bot_stopped_speaking()
        self.rtvi.bot_interrupted()
        self.rtvi.user_transcription("hi", final=False)
        self.rtvi.user_input("typed")
        self.rtvi.bot_output("hello")
        self.rtvi.server_message([1])
        self.rtvi.error("oh")
        self.rtvi.send("custom", {"a": 1})
        self.assertEqual(self.types(), [
            "user-started-speaking", "user-stopped-speaking", "bot-started-speaking", "bot-stopped-speaking",
            "bot-interrupted", "user-transcription", "user-input", "bot-output", "server-message", "error", "custom",
        ])  # fmt: skip
        self.assertNotIn("data", self.sent[0])
        self.assertRegex(self.sent[5]["data"]["timestamp"], r"^\d{4}-\d\d-\d\dT[\d:]+\.\d{3}Z$")
        self.assertEqual(self.sent[7]["data"]["spoken_status"], "completed")
        self.assertEqual(self.sent[9]["data"], {"error": "oh", "message": "oh", "fatal": False})
        self.assertTrue(all(sent["label"] == "rtvi-ai" and sent["id"] for sent in self.sent))

    def test_an_old_client_gets_what_it_knows(self) -> None:
        self.rtvi.receive(message("client-ready", {"version": "1.0.0"}))
        self.sent.clear()
        self.rtvi.user_input("typed")
        self.rtvi.bot_output("hello")
        self.rtvi.bot_output("shown", spoken=False)
        self.assertEqual(self.types(), ["bot-output", "bot-transcription", "bot-output"])

    def test_a_listener_that_raises_is_told_of(self) -> None:
        self.rtvi.on_text(lambda text: 1 / 0)
        self.rtvi.receive(message("send-text", {"content": "x"}))
        self.assertIsInstance(self.failures[0], ZeroDivisionError)


if __name__ == "__main__":
    unittest.main()
