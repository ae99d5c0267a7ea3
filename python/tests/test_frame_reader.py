from __future__ import annotations

import json
import random
import struct
import unittest
from typing import Any

import support  # noqa: F401

from botcli.link.frame_reader import BUFFER_BYTES, FrameReader
from botcli.link.frames import LinkProtocolError
from botcli.link.host_messages import (
    Cancel,
    Candidates,
    IceCandidate,
    Message,
    Offer,
    SocketClosed,
    Start,
    parse_host_message,
)


def frame(kind: int, payload: bytes) -> bytes:
    return struct.pack(">BI", kind, len(payload)) + payload


class Record:
    def __init__(self) -> None:
        self.seen: list[tuple[Any, ...]] = []

    def on_control(self, payload: memoryview) -> None:
        self.seen.append(("control", bytes(payload)))

    def on_audio_in(self, captured_at: int, audio: bytes) -> None:
        self.seen.append(("audio", captured_at, audio))

    def on_playback(self, epoch: int, played: int, limit: int) -> None:
        self.seen.append(("playback", epoch, played, limit))

    def on_socket(self, data: str | bytes) -> None:
        self.seen.append(("socket", data))

    def on_heard(self, count: int) -> None:
        self.seen.append(("heard", count))


def read(stream: bytes, sizes: Any) -> list[tuple[Any, ...]]:
    record = Record()
    reader = FrameReader(record)
    while stream:
        buffer = reader.buffer()
        assert len(buffer) > 0
        size = min(len(buffer), len(stream), next(sizes))
        buffer[:size] = stream[:size]
        reader.advance(size)
        stream = stream[size:]
    return record.seen


def forever(size: int) -> Any:
    while True:
        yield size


class FrameReaderTest(unittest.TestCase):
    def test_frames_come_out_as_they_went_in_however_they_are_cut(self) -> None:
        dice = random.Random(7)
        large = dice.randbytes(700_000)
        stream = frame(2, struct.pack(">I", 20) + b"\1\2" * 320) + frame(4, struct.pack(">III", 1, 2, 3))
        stream += frame(1, b"{}") + frame(1, large) + frame(2, struct.pack(">I", 40)) + frame(1, b"x" * (1024 * 1024))
        stream += frame(4, struct.pack(">III", 4, 5, 2**32 - 1)) + frame(6, "\ufeffü".encode()) + frame(7, large)
        stream += frame(6, b"") + frame(5, struct.pack(">I", 9)) + frame(7, b"")
        expected = [
            ("audio", 20, b"\1\2" * 320),
            ("playback", 1, 2, 3),
            ("control", b"{}"),
            ("control", large),
            ("audio", 40, b""),
            ("control", b"x" * (1024 * 1024)),
            ("playback", 4, 5, 2**32 - 1),
            ("socket", "\ufeffü"),
            ("socket", large),
            ("socket", ""),
            ("heard", 9),
            ("socket", b""),
        ]
        self.assertEqual(read(stream, forever(10**9)), expected)
        self.assertEqual(read(stream, forever(1009)), expected)
        for _ in range(20):
            self.assertEqual(read(stream, iter(lambda: int(10 ** dice.uniform(0, 6)), None)), expected)
        small = frame(2, struct.pack(">I", 1) + b"ab") + frame(1, b"[]")
        self.assertEqual(read(small, forever(1)), [("audio", 1, b"ab"), ("control", b"[]")])

    def test_a_large_frame_does_not_keep_its_buffer(self) -> None:
        reader = FrameReader(Record())
        stream = frame(1, b"x" * 500_000)
        while stream:
            buffer = reader.buffer()
            size = min(len(buffer), len(stream))
            buffer[:size] = stream[:size]
            reader.advance(size)
            stream = stream[size:]
        self.assertEqual(len(reader.buffer()), BUFFER_BYTES)

    def test_nonsense_is_refused(self) -> None:
        for stream in (
            struct.pack(">BI", 1, 1024 * 1024 + 1),
            frame(0, b""),
            frame(3, bytes(6)),
            frame(5, bytes(3)),
            frame(9, b""),
            frame(2, bytes(3)),
            frame(2, bytes(7)),
            frame(4, bytes(11)),
            frame(6, b"\xc3"),
        ):
            with self.subTest(stream[:8]), self.assertRaises(LinkProtocolError):
                read(stream, forever(10**9))


class HostMessagesTest(unittest.TestCase):
    def parse(self, text: str | bytes) -> Any:
        return parse_host_message(memoryview(text.encode() if isinstance(text, str) else text))

    def test_known_messages(self) -> None:
        cancel = '{"type":"cancel","cause":"stopped","message":"m","deadlineMs":5}'
        self.assertEqual(self.parse(cancel), Cancel("stopped", "m", 5))
        self.assertEqual(self.parse('{"type":"message","data":{"é":[null]}}'), Message({"é": [None]}))
        start = self.parse('{"type":"start","start":{"sessionId":"s","transport":"room","body":{},"new":1}}')
        self.assertIsInstance(start, Start)
        self.assertEqual(self.parse('{"type":"offer","id":1,"sdp":"v=0","restart":true}'), Offer(1, "v=0", True))
        closed = self.parse('{"type":"socket-closed","code":4001,"reason":"r"}')
        self.assertEqual(closed, SocketClosed(4001, "r"))
        candidates = self.parse('{"type":"candidates","candidates":[{"candidate":"c","mid":"0"}]}')
        self.assertEqual(candidates, Candidates((IceCandidate("c", "0"),)))

    def test_a_session_that_is_passed_through(self) -> None:
        websocket = {"path": "/ws", "query": "a=1", "remoteAddress": "::1", "headers": {"origin": "https://x"}}
        source = {"sessionId": "s", "transport": "eval", "body": {}, "passThrough": True, "websocket": websocket}
        start = self.parse(json.dumps({"type": "start", "start": source})).start
        self.assertEqual((start.transport, start.pass_through), ("eval", True))
        self.assertEqual((start.websocket.headers, start.websocket.query), ({"origin": "https://x"}, "a=1"))

    def test_nonsense_is_refused(self) -> None:
        deep = '{"type":"message","data":' + "[" * 101 + "]" * 101 + "}"
        start = '{"type":"start","start":%s}'
        for text in (
            "", "7", "[]", "{}", '{"type":"nothing"}', '{"type":["ping"]}', '{"type":"ping"}',
            '{"type":"ping","id":"1"}', '{"type":"ping","id":true}',
            '{"type":"cleared","epoch":-1,"playedSamples":0}', '{"type":"dtmf"}',
            '{"type":"message","data":NaN}', deep, '{"type":"message","data":' + "[" * 100_000,
            b'{"type":"dtmf","keys":"\xff"}', '{"type":"ping","id":1}'.encode("utf-16"),
            start % '{"sessionId":"s","transport":"fax","body":{}}',
            start % '{"sessionId":"s","transport":"webrtc","body":[]}',
            start % '{"sessionId":"s","transport":"webrtc","body":{},"webrtc":{}}',
            start % '{"sessionId":"s","transport":"webrtc","body":{},"passThrough":1}',
            '{"type":"socket-closed","code":4001}', '{"type":"offer","id":1,"sdp":7}', '{"type":"candidates","candidates":{}}',
            '{"type":"candidates","candidates":["c"]}', '{"type":"candidates","candidates":[{"candidate":"c"}]}',
        ):  # fmt: skip
            with self.subTest(text[:40]), self.assertRaises(LinkProtocolError):
                self.parse(text)

    def test_as_deep_as_allowed(self) -> None:
        data = "[" * 100 + "]" * 100
        self.assertEqual(self.parse('{"type":"message","data":%s}' % data), Message(json.loads(data)))


if __name__ == "__main__":
    unittest.main()
