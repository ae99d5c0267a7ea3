from __future__ import annotations

import base64
import dataclasses
import json
import unittest
from http import HTTPStatus
from typing import Any

from support import SOURCE_FOLDER as _  # noqa: F401

from botcli import BotError, Headers, HttpRequest, HttpResponse
from botcli.http_request import MAX_BODY_BYTES
from botcli.link.frames import LinkProtocolError
from botcli.link.host_messages import Request, parse_host_message
from botcli.outgoing_response import spell_response

JSON = ("content-type", "application/json")


def parse(**changes: Any) -> HttpRequest:
    request = {"method": "GET", "path": "/", "query": "", "headers": [], "body": "", **changes}
    message = parse_host_message(memoryview(json.dumps({"type": "request", "id": 7, "request": request}).encode()))
    assert isinstance(message, Request)
    return message.request


class RequestTest(unittest.TestCase):
    def test_everything_that_somebody_asks_is_there(self) -> None:
        request = parse(
            method="PUT",
            path="/notes/a%2Fb",
            query="?q=a%20b&q=c+d&empty=&%C3%A4=1",
            headers=[["Content-Type", "application/json"], ["X-Twice", "1"], ["x-twice", "2"], ["Cookie", "a=1"]],
            body=base64.b64encode('{"é": [1]}'.encode()).decode(),
        )
        self.assertEqual((request.method, request.path), ("PUT", "/notes/a%2Fb"))
        self.assertEqual(request.query, "q=a%20b&q=c+d&empty=&%C3%A4=1")
        self.assertEqual(request.params, {"q": "c d", "empty": "", "ä": "1"})
        self.assertEqual((request.text(), request.json()), ('{"é": [1]}', {"é": [1]}))
        self.assertEqual(request.headers["CONTENT-type"], "application/json")
        self.assertEqual(request.headers.get("x-TWICE"), "1, 2")
        self.assertIn("cookie", request.headers)
        self.assertNotIn("authorization", request.headers)
        self.assertEqual(list(request.headers), ["content-type", "x-twice", "cookie"])
        self.assertEqual(request.headers.pairs[2], ("x-twice", "2"))
        with self.assertRaises(dataclasses.FrozenInstanceError):
            request.path = "/"  # type: ignore[misc]

    def test_a_body_need_not_be_what_it_should(self) -> None:
        request = HttpRequest("POST", "/", body=b"\xff{")
        self.assertEqual(request.text(), "\ufffd{")
        self.assertRaises(ValueError, request.json)
        self.assertEqual((request.params, len(request.headers)), ({}, 0))

    def test_keys_are_not_shown(self) -> None:
        request = HttpRequest("GET", "/", headers=Headers({"Authorization": "secret-1"}), body=b"secret-2")
        self.assertNotIn("secret", repr(request) + repr(request.headers))

    def test_a_host_that_makes_no_sense_is_noticed(self) -> None:
        for changes, problem in (
            ({"method": 5}, "method is not text"),
            ({"path": "notes"}, "slash"),
            ({"query": "a=1"}, "question mark"),
            ({"headers": {"a": "b"}}, "headers is not a list"),
            ({"headers": [["a"]]}, "not a pair"),
            ({"headers": ["ab"]}, "not a pair"),
            ({"headers": [["a", 1]]}, "must be text"),
            ({"headers": [["a b", "1"]]}, "not the name"),
            ({"headers": [["a", "1\n2"]]}, "line break"),
            ({"headers": [["a", "1"]] * 101}, "100 headers"),
            ({"headers": [["a", "1" * 32768]]}, "32768 characters"),
            ({"body": None}, "body is not text"),
            ({"body": "a"}, "base64"),
            ({"body": "YQ"}, "base64"),
            ({"body": "YQ==\n"}, "base64"),
            ({"body": "Y-_="}, "base64"),
            ({"body": "ü==="}, "base64"),
            ({"body": base64.b64encode(bytes(MAX_BODY_BYTES + 1)).decode()}, "524288 bytes"),
        ):
            with self.subTest(problem, changes=str(changes)[:40]):
                self.assertRaisesRegex(LinkProtocolError, f"'request' message.*{problem}", parse, **changes)
        self.assertEqual(len(parse(body=base64.b64encode(bytes(MAX_BODY_BYTES)).decode()).body), MAX_BODY_BYTES)


class ResponseTest(unittest.TestCase):
    def spell(self, result: object) -> tuple[int, list[tuple[str, str]], bytes]:
        spelled = spell_response(result)
        return spelled["status"], spelled["headers"], base64.b64decode(spelled["body"], validate=True)

    def test_what_a_handler_gives_becomes_an_answer(self) -> None:
        text, raw = ("content-type", "text/plain; charset=utf-8"), ("content-type", "application/octet-stream")
        for result, expected in (
            (None, (204, [], b"")),
            ({"a": ["é", None]}, (200, [JSON], '{"a":["é",null]}'.encode())),
            ([], (200, [JSON], b"[]")),
            ("é", (200, [text], "é".encode())),
            (b"\x00\xff", (200, [raw], b"\x00\xff")),
            (HttpResponse(), (200, [], b"")),
            (HttpResponse(404), (404, [], b"")),
            (HttpResponse(404, "no such note"), (404, [text], b"no such note")),
            (HttpResponse(body=None), (200, [], b"")),
            (HttpResponse(body=5), (200, [JSON], b"5")),
            (HttpResponse(body=bytearray(b"x")), (200, [raw], b"x")),
            (HttpResponse(HTTPStatus.CREATED, {}), (201, [JSON], b"{}")),
            (
                HttpResponse(200, "<p>", {"Content-Type": "text/html"}),
                (200, [("Content-Type", "text/html")], b"<p>"),
            ),
            (
                HttpResponse(200, [], [("set-cookie", "a=1"), ("set-cookie", "b=ü")]),
                (200, [JSON, ("set-cookie", "a=1"), ("set-cookie", "b=ü")], b"[]"),
            ),
            (HttpResponse(599, headers=Headers([("a", "1"), ("A", "2")])), (599, [("a", "1"), ("A", "2")], b"")),
            ({"half": "\ud800"}, (200, [JSON], b'{"half":"\\ud800"}')),
        ):
            with self.subTest(str(result)):
                self.assertEqual(self.spell(result), expected)

    def test_what_cannot_be_an_answer_is_told_with_what_can(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        for result, problem in (
            (5, "gave builtins.int; it must give HttpResponse, dict, list, str, bytes or None"),
            ((1, 2), "gave builtins.tuple"),
            (HttpResponse(199), "from 200 to 599; this one is 199"),
            (HttpResponse(600), "this one is 600"),
            (HttpResponse("200"), "this one is '200'"),  # type: ignore[arg-type]
            (HttpResponse(True), "this one is True"),
            (HttpResponse(204, "x"), "204 has no body, but this one has 1 bytes"),
            (bytes(MAX_BODY_BYTES + 1), "may have 524288 bytes; this one has 524289"),
            ("é" * (MAX_BODY_BYTES // 2 + 1), "this one has 524290"),
            ("\ud800", "no UTF-8 has"),
            ({"a": {1}}, "bytes, text or JSON: Object of type set"),
            ({"a": float("nan")}, "bytes, text or JSON"),
            (loop, "bytes, text or JSON: Circular"),
            (HttpResponse(body=object()), "bytes, text or JSON"),
            (HttpResponse(headers="ab"), "dictionary, or a list of pairs"),  # type: ignore[arg-type]
            (HttpResponse(headers=5), "dictionary, or a list of pairs"),  # type: ignore[arg-type]
            (HttpResponse(headers={"retry-after": 5}), "retry-after is of type int"),  # type: ignore[dict-item]
            (HttpResponse(headers={"a b": "c"}), "'a b' is not the name"),
            (HttpResponse(headers={"": "c"}), "'' is not the name"),
            (HttpResponse(headers={"a\n": "c"}), "is not the name"),
            (HttpResponse(headers={"a": "b\r\nset-cookie: c"}), "the header a has a line break"),
            (HttpResponse(headers={"a": "b\n"}), "line break"),
            (HttpResponse(headers={"a": "€"}), "Latin-1"),
            (HttpResponse(headers=[("a", "b")] * 101), "100 headers, but there are 101"),
            (HttpResponse(headers={"a": "b" * 32768}), "32768 characters in all, but have 32769"),
        ):
            with self.subTest(problem), self.assertRaisesRegex(BotError, problem) as raised:
                spell_response(result)
            self.assertEqual(raised.exception.code, "invalid_response")


if __name__ == "__main__":
    unittest.main()
