from __future__ import annotations

import asyncio
import unittest
from array import array
from itertools import pairwise
from typing import Any

from support.host import until
from support.transport import FRAME, RATE, TransportSession, params

from botcli import BotError, TransportParams, create_transport


class TransportTest(TransportSession):
    async def test_sound_waits_for_credit_and_is_cut_into_pieces(self) -> None:
        host, transport = await self.transport()
        sound = bytes(range(250)) * 32  # 250 ms
        sending = asyncio.create_task(transport.send_audio(sound))
        await host.settled()
        self.assertEqual(host.sound, [])
        self.assertEqual(transport.queued_ms, 250)
        host.playback(0, 0, 2000)
        await host.settled()
        self.assertEqual([len(audio) for _, audio in host.sound], [3200, 800])
        host.playback(0, 2000, 100_000)
        await host.settled()
        self.assertEqual(b"".join(audio for _, audio in host.sound), sound)
        self.assertEqual((transport.played_ms, transport.queued_ms), (125, 125))
        self.assertTrue(sending.done())
        drained = asyncio.create_task(transport.drained())
        await host.settled()
        self.assertFalse(drained.done())
        host.playback(0, 4000, 100_000)
        await drained

    async def test_a_bot_that_waits_is_a_second_ahead(self) -> None:
        host, transport = await self.transport()
        await transport.send_audio(bytes(RATE * 2))
        more = asyncio.create_task(transport.send_audio(FRAME))
        await host.settled()
        self.assertFalse(more.done())
        host.playback(0, 0, RATE * 2)
        await host.settled()
        self.assertFalse(more.done())
        host.playback(0, 320, RATE * 2)
        await more

    async def test_a_bot_that_never_waits_is_stopped(self) -> None:
        _, transport = await self.transport()
        tasks = [asyncio.create_task(transport.send_audio(bytes(RATE * 2))) for _ in range(62)]
        done, _ = await asyncio.wait(tasks, timeout=0.1)
        errors = [task.exception() for task in done if task is not tasks[0]]
        self.assertEqual([error.code for error in errors if isinstance(error, BotError)], ["flooded"])
        for task in tasks:
            task.cancel()

    async def test_clear_drops_at_once_and_tells_what_was_heard(self) -> None:
        host, transport = await self.transport()
        host.playback(0, 0, 3200)
        await host.settled()
        await transport.send_audio(bytes(16_000))
        host.playback(0, 1600, 4800)
        await host.settled()
        cleared = transport.clear()
        self.assertEqual((transport.queued_ms, transport.played_ms), (0, 0))
        await transport.send_audio(b"\1\2" * 320)
        host.playback(0, 1700, 9999)  # of the old epoch, on its way
        await host.settled()
        self.assertEqual((await host.message("clear"))["epoch"], 1)
        self.assertFalse(cleared.done())
        host.send("cleared", epoch=1, playedSamples=1760)
        self.assertEqual((await cleared).played_ms, 110)
        host.playback(1, 0, 3200)
        await host.settled()
        self.assertEqual(host.sound[-1], (1, b"\1\2" * 320))
        self.assertEqual(transport.queued_ms, 20)

    async def test_clear_of_nothing_and_a_waiter_that_is_cancelled(self) -> None:
        host, transport = await self.transport()
        self.assertEqual((await transport.clear()).played_ms, 0)
        host.playback(0, 0, RATE * 9)
        first = asyncio.create_task(transport.send_audio(bytes(RATE * 4)))
        second = asyncio.create_task(transport.send_audio(FRAME))
        await host.settled()
        first.cancel()
        await host.settled()
        self.assertFalse(second.done())
        transport.clear()
        await second

    async def test_sound_in_is_confirmed_when_it_is_taken(self) -> None:
        host, transport = await self.transport()
        for at in range(12):
            host.audio_in(at * 20, FRAME)
        await host.settled()
        self.assertEqual(host.heard, [5, 10])  # nobody listens, so it counts as heard
        frames = transport.audio()
        first = asyncio.create_task(anext(frames))
        await host.settled()
        for at in range(12, 32):
            host.audio_in(at * 20, at.to_bytes(2, "little") * 320)
        await host.settled()
        frame = await first
        self.assertEqual((frame.captured_at, frame.sample_rate, frame.samples[0]), (240, RATE, 12))
        await host.settled()
        self.assertEqual(host.heard[-1], 10)  # one of 22 is taken, 13 are heard
        for at in range(13, 32):
            self.assertEqual((await anext(frames)).captured_at, at * 20)
        await host.settled()
        self.assertEqual(host.heard[-1], 30)
        self.assertTrue(all(b - a == 5 for a, b in pairwise(host.heard)))

    async def test_a_reader_that_stops_does_not_hold_up_the_others(self) -> None:
        host, transport = await self.transport()

        async def first_frame() -> int:
            async for frame in transport.audio():
                return frame.captured_at
            return -1

        reading = asyncio.create_task(first_frame())
        await host.settled()
        for at in range(11):
            host.audio_in(at, FRAME)
        self.assertEqual(await reading, 0)
        await host.settled()
        host.audio_in(99, FRAME)
        await host.settled()
        self.assertEqual(host.heard[-1], 11)

    async def test_a_reader_that_stands_still_does_not_make_the_others_deaf(self) -> None:
        host, transport = await self.transport()
        idle, heard = transport.audio(), []

        async def listen() -> None:
            async for frame in transport.audio():
                heard.append(frame.captured_at)

        waiting = asyncio.create_task(anext(idle))
        listening = asyncio.create_task(listen())
        await host.settled()
        for at in range(300):
            host.audio_in(at, FRAME)
        await until(lambda: len(heard) == 300 or None)
        await host.settled()
        self.assertEqual(host.heard[-1], 300)
        self.assertEqual((await waiting).captured_at, 0)
        late = [(await anext(idle)).captured_at for _ in range(128)]
        self.assertEqual(late, list(range(172, 300)))
        listening.cancel()

    async def test_events_come_to_plain_and_async_listeners(self) -> None:
        seen: list[Any] = []

        async def bot(args: Any) -> None:
            transport = await create_transport(args, {"webrtc": lambda: TransportParams(rtvi=False)})
            transport.on("connected", lambda: seen.append("connected"))

            @transport.event("dtmf")
            async def on_keys(keys: str) -> None:
                await asyncio.sleep(0)
                seen.append(keys)

            @transport.event("message")
            def on_message(message: object) -> None:
                seen.append(message)

            @transport.event("audio")
            def on_audio(frame: Any) -> None:
                seen.append(len(frame.audio))

            transport.on("disconnected", lambda: seen.append("disconnected"))
            transport.on("ended", lambda reason: seen.append(reason.cause))
            with self.assertRaises(BotError):
                transport.on("nonsense", print)  # type: ignore[arg-type]
            with self.assertRaises(BotError):
                transport.rtvi
            await transport.wait_ended()
            transport.on("ended", lambda reason: seen.append("late"))
            await asyncio.sleep(0.01)

        host, _ = await self.run_bot(bot)
        host.send("connected")
        host.send("dtmf", keys="5#")
        host.say({"label": "rtvi-ai", "type": "any"})
        await host.message("format")
        host.audio_in(0, FRAME)
        host.send("disconnected")
        await until(lambda: "disconnected" in seen or None)
        host.cancel()
        await host.message("end")
        expected = ["connected", "5#", {"label": "rtvi-ai", "type": "any"}, 640, "disconnected", "client_left", "late"]
        self.assertEqual(sorted(map(str, seen)), sorted(map(str, expected)))

    async def test_what_cannot_be_sent_is_an_error(self) -> None:
        host, transport = await self.transport()
        deep: Any = []
        for _ in range(101):
            deep = [deep]
        loop: Any = {}
        loop["loop"] = loop
        for message in (float("nan"), {1, 2}, object(), deep, loop, "x" * (255 * 1024), "é" * (128 * 1024)):
            with self.assertRaisesRegex(BotError, "message"):
                transport.send_message(message)
        for keys in ("", "x", "1" * 65, 5, None):
            with self.assertRaises(BotError):
                transport.send_dtmf(keys)  # type: ignore[arg-type]
        for audio in (b"odd", "text", array("f", [0.5]), [1, 2], None):
            with self.assertRaisesRegex(BotError, "send_audio"):
                await transport.send_audio(audio)  # type: ignore[arg-type]
        host.playback(0, 0, RATE)
        await host.settled()
        for sound in (array("h", [1, -2]), bytearray(b"abcd"), memoryview(b"abcdef")[2:]):
            await transport.send_audio(sound)
        transport.send_message(["é", "\ud800", None, True])
        transport.send_message(None)
        transport.send_dtmf("0*D")
        await host.settled()
        self.assertEqual([audio for _, audio in host.sound], [b"\1\0\xfe\xff", b"abcd", b"cdef"])
        self.assertEqual(host.said, [["é", "\ud800", None, True], None])

    async def test_a_buffer_may_be_filled_again(self) -> None:
        host, transport = await self.transport()
        buffer = bytearray(b"ab")
        await transport.send_audio(buffer)
        buffer[:] = b"xx"
        host.playback(0, 0, 100)
        await host.settled()
        self.assertEqual(host.sound, [(0, b"ab")])

    async def test_after_the_end_nothing_is_sent_and_everybody_goes_on(self) -> None:
        host, transport = await self.transport()
        host.playback(0, 0, 100)
        waits = [
            asyncio.create_task(transport.send_audio(bytes(RATE * 3))),
            asyncio.create_task(transport.drained()),
            asyncio.create_task(transport.wait_ended()),
        ]
        await host.settled()
        cleared = transport.clear()
        host.cancel()
        await host.message("end")
        await asyncio.wait_for(asyncio.gather(*waits), 5)
        self.assertEqual((await cleared).played_ms, 0)
        count = len(host.messages)
        transport.send_message("late")
        transport.send_dtmf("1")
        with self.assertRaises(BotError) as caught:
            await transport.send_audio(FRAME)
        self.assertEqual(caught.exception.code, "session_ended")
        self.assertEqual([frame async for frame in transport.audio()], [])
        await asyncio.sleep(0.01)
        self.assertEqual(len(host.messages), count)

    async def test_close_ends_the_session_when_all_was_heard(self) -> None:
        async def bot(args: Any) -> None:
            transport = await create_transport(args, {"webrtc": params})
            await transport.send_audio(FRAME)
            await transport.close()
            await asyncio.sleep(1000)

        host, guest = await self.run_bot(bot)
        await host.message("format")
        host.playback(0, 0, 320)
        await host.settled()
        self.assertFalse(any(message["type"] == "end" for message in host.messages))
        host.playback(0, 320, 640)
        self.assertEqual((await host.message("end"))["outcome"], "returned")
        await host.close()
        self.assertTrue((await asyncio.wait_for(guest.done, 10)).ok)

    async def test_a_bot_that_returns_is_heard_to_the_end(self) -> None:
        async def bot(args: Any) -> None:
            transport = await create_transport(args, {"webrtc": params})
            await transport.send_audio(FRAME)

        host, _ = await self.run_bot(bot)
        await host.message("format")
        await host.settled()
        self.assertFalse(any(message["type"] == "end" for message in host.messages))
        host.playback(0, 0, 320)
        host.playback(0, 320, 640)
        self.assertEqual((await host.message("end"))["outcome"], "returned")


if __name__ == "__main__":
    unittest.main()
