from __future__ import annotations

import unittest

import support  # noqa: F401

from botcli import BotError, DialinRequest, DialinSettings

BODY = {
    "dialin_settings": {"call_id": "c", "call_domain": "d", "From": "+1", "region": "x"},
    "room_api_key": "key",
    "room_api_url": "https://rooms",
}


class DialinTest(unittest.TestCase):
    def test_reads_a_body(self) -> None:
        request = DialinRequest.from_body(BODY)
        self.assertEqual(request.dialin_settings, DialinSettings("c", "d", From="+1", extra={"region": "x"}))
        self.assertEqual((request.room_api_key, request.room_api_url), ("key", "https://rooms"))
        self.assertEqual(DialinRequest.model_validate(BODY), request)
        self.assertNotIn("'key'", repr(request))

    def test_who_calls_may_be_unknown(self) -> None:
        body = {**BODY, "dialin_settings": {"call_id": "c", "call_domain": "d", "To": None}}
        self.assertIsNone(DialinRequest.from_body(body).dialin_settings.From)

    def test_names_everything_that_is_wrong(self) -> None:
        body = {"dialin_settings": {"call_id": 7, "From": 8}, "room_api_url": "u"}
        with self.assertRaises(BotError) as caught:
            DialinRequest.from_body(body)
        self.assertEqual(caught.exception.code, "invalid_body")
        text = str(caught.exception)
        for part in ("call_id is not text", "call_domain is missing", "From is not text", "room_api_key is missing"):
            self.assertIn(part, text)
        for empty in ({}, None, [], "text"):
            with self.assertRaisesRegex(BotError, "not a dial-in request"):
                DialinRequest.from_body(empty)


if __name__ == "__main__":
    unittest.main()
