from __future__ import annotations

import asyncio
import socket
import time
import unittest
from typing import Any

from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.audio.mixers.base_audio_mixer import BaseAudioMixer
from pipecat.frames.frames import (
    EndFrame,
    Frame,
    InputAudioRawFrame,
    OutputDTMFUrgentFrame,
    OutputTransportMessageFrame,
    TTSAudioRawFrame,
)
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipeline_bot import (
    RATE,
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    Call,
    Echo,
    InputDTMFFrame,
    InterruptionFrame,
)
from playing_host import PlayingHost
from support.host import until

from botcli.guest.guest import Guest
from botcli.link.port import open_link

SAMPLE = 2


class PipelineTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.ends: list[tuple[PlayingHost, Guest]] = []

    async def asyncTearDown(self) -> None:
        for host, guest in self.ends:
            await host.close()
            # A pipeline that is still there when the loop is closed would hold it for ever.
            await asyncio.wait_for(guest.done, 15)
            self.assertEqual(host.violations, [])

    async def begin(self, call: Call, **start: Any) -> PlayingHost:
        ours, theirs = socket.socketpair()
        host: PlayingHost = await PlayingHost.on(ours)
        guest = Guest(pid=1, runtime="test", grace_s=2.0)
        self.ends.append((host, guest))
        await open_link(theirs, guest)
        guest.ready(call.bot)
        host.start(**start)
        host.send("connected")
        return host

    async def call(self, call: Call, **start: Any) -> PlayingHost:
        host = await self.begin(call, **start)
        await host.message("format")
        host.play()
        await asyncio.wait_for(call.ready.wait(), 15)
        return host

    async def test_it_echoes_sound_and_confirms_what_the_pipeline_took(self) -> None:
        call = Call(Echo())
        host = await self.call(call)
        self.assertEqual(await host.message("format"), {"type": "format", "inputRate": RATE, "outputRate": RATE})
        sound = b"".join(index.to_bytes(2, "little") for index in range(1, 320 * 50 + 1))
        for index in range(50):
            host.audio_in(index * 20, sound[index * 640 : (index + 1) * 640])
            await asyncio.sleep(0.02)
        await until(lambda: len(host.heard_bytes) >= len(sound))
        self.assertEqual(host.heard_bytes, sound)
        self.assertEqual(host.heard[-1], 50)
        self.assertEqual(call.events, ["connected peer-1"])
        await until(lambda: call.transport.played_ms == 1000)

    async def test_the_bot_has_stopped_when_the_caller_has_heard_it(self) -> None:
        call = Call()
        host = await self.call(call)
        await call.say(3.0)
        await until(lambda: call.watch.times(BotStoppedSpeakingFrame) or None)
        # Bot frames go both ways; the watch is above the output.
        started, stopped = call.watch.times(BotStartedSpeakingFrame)[0], call.watch.times(BotStoppedSpeakingFrame)[0]
        self.assertEqual(len(host.heard_bytes), 3 * RATE * SAMPLE)
        self.assertGreaterEqual(stopped, host.played_at)
        self.assertGreater(stopped - started, 2.8)
        self.assertEqual({len(audio) for _, audio in host.sound}, {RATE // 50 * SAMPLE})

    async def test_an_interruption_is_heard_at_once_and_nothing_old_follows(self) -> None:
        call = Call()
        host = await self.call(call)
        for turn in range(1, 6):
            sample = bytes([turn, 1])
            await call.say(5.0, sample)
            await until(lambda sample=sample: sample in host.heard_bytes[-SAMPLE:])
            await asyncio.sleep(0.1)
            await call.worker.queue_frame(InterruptionFrame())
            await until(lambda turn=turn: len(call.watch.times(BotStoppedSpeakingFrame)) == turn)
            await host.settled()
            heard = len(host.heard_bytes)
            await asyncio.sleep(0.2)
            self.assertEqual(host.heard_bytes[heard:], b"")
        # A bot that has just run dry has nothing to clear.
        self.assertGreater(len(host.clears), 0)
        for at, heard in host.clears:
            self.assertNotEqual(host.heard_bytes[heard - SAMPLE : heard], host.heard_bytes[heard : heard + SAMPLE], at)

    async def test_sound_that_must_not_be_interrupted_is_played_to_its_end(self) -> None:
        if not hasattr(TTSAudioRawFrame(audio=b"", sample_rate=RATE, num_channels=1), "interruptible"):
            self.skipTest("this version of the library has no such sound")
        call = Call()
        host = await self.call(call)
        old, kept = b"\x01\x01", b"\x02\x02"
        frames = [TTSAudioRawFrame(audio=sample * RATE, sample_rate=RATE, num_channels=1) for sample in (old, kept)]
        frames[1].interruptible = False
        await call.worker.queue_frames(frames)
        await until(lambda: old in host.heard_bytes)
        await call.worker.queue_frame(InterruptionFrame())
        await until(lambda: host.heard_bytes.count(kept) >= RATE)
        await asyncio.sleep(0.1)
        self.assertEqual(host.heard_bytes.count(kept), RATE)
        self.assertLess(host.heard_bytes.count(old), RATE // 2)
        # And once more while it is the only sound: nothing to clear.
        again = TTSAudioRawFrame(audio=kept * RATE, sample_rate=RATE, num_channels=1)
        again.interruptible = False
        clears = len(host.clears)
        await call.worker.queue_frame(again)
        await until(lambda: host.heard_bytes.count(kept) > RATE)
        await call.worker.queue_frame(InterruptionFrame())
        await until(lambda: host.heard_bytes.count(kept) >= 2 * RATE)
        self.assertEqual(len(host.clears), clears)

    async def test_a_mixer_is_heard_without_a_gap(self) -> None:
        class Hum(BaseAudioMixer):
            async def start(self, sample_rate: int) -> None: ...
            async def stop(self) -> None: ...
            async def process_frame(self, frame: Any) -> None: ...
            async def mix(self, audio: bytes) -> bytes:
                return audio if any(audio) else b"\x05\x00" * (len(audio) // 2)

        call = Call(audio_out_mixer=Hum())
        host = await self.call(call)
        await asyncio.sleep(0.5)
        await call.say(5.0)
        await until(lambda: b"\x10\x10" in host.heard_bytes)
        await call.worker.queue_frame(InterruptionFrame())
        await until(lambda: len(host.clears) > 0)
        after = host.clears[0][1]
        await until(lambda: len(host.heard_bytes) > after + RATE)
        self.assertEqual(set(host.heard_bytes[after:]), {0, 5})
        host.cancel()
        self.assertEqual((await host.message("end"))["outcome"], "returned")

    async def test_messages_go_both_ways_and_rtvi_is_answered(self) -> None:
        call = Call()
        host = await self.call(call)
        host.say({"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": {"version": "1.0.0"}})
        await until(lambda: any(m.get("type") == "bot-ready" for m in host.said))
        host.say({"hello": "there"})
        host.say("text alone")
        await until(lambda: "message text alone" in call.events)
        self.assertIn("message {'hello': 'there'}", call.events)
        await call.worker.queue_frame(OutputTransportMessageFrame(message={"to": "the client"}))
        await call.worker.queue_frame(OutputTransportMessageFrame(message={"bad": object()}))
        await call.worker.queue_frame(OutputTransportMessageFrame(message={"to": "the client again"}))
        await until(lambda: {"to": "the client again"} in host.said)
        self.assertIn({"to": "the client"}, host.said)

    async def test_keys_go_both_ways(self) -> None:
        call = Call()
        host = await self.call(call)
        host.send("dtmf", keys="1A#")
        await until(lambda: len(call.watch.times(InputDTMFFrame)) == 2)
        await call.worker.queue_frame(OutputDTMFUrgentFrame(button=KeypadEntry.NINE))
        self.assertEqual(await host.message("dtmf"), {"type": "dtmf", "keys": "9"})

    async def test_an_end_plays_the_rest(self) -> None:
        call = Call()
        host = await self.call(call)
        await call.say(1.0)
        await call.worker.queue_frame(EndFrame())
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        self.assertEqual(len(host.heard_bytes), RATE * SAMPLE)
        self.assertEqual(call.events, ["connected peer-1", "over"])

    async def test_a_cancel_is_silent_at_once(self) -> None:
        call = Call()
        host = await self.call(call)
        await call.say(10.0)
        await until(lambda: len(host.heard_bytes) > RATE // 2)
        begun = time.monotonic()
        await call.worker.cancel()
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        self.assertLess(time.monotonic() - begun, 3)
        self.assertLess(len(host.heard_bytes), 3 * RATE * SAMPLE)

    async def test_a_caller_that_leaves_ends_the_bot(self) -> None:
        call = Call(Echo())
        host = await self.call(call)
        await call.say(10.0)
        host.cancel(5000)
        begun = time.monotonic()
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        self.assertLess(time.monotonic() - begun, 3)
        self.assertEqual(call.events, ["connected peer-1", "disconnected", "over"])

    async def test_a_bot_that_does_not_listen_for_that_ends_in_time(self) -> None:
        call = Call(Echo(), cancel_on_leave=False)
        host = await self.call(call)
        host.cancel(3000)
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        self.assertIn("over", call.events)

    async def test_a_link_that_breaks_ends_the_bot(self) -> None:
        call = Call(Echo())
        host = await self.call(call)
        await host.close()
        await until(lambda: "over" in call.events)

    async def test_a_pipeline_that_is_slow_holds_the_callers_sound_back(self) -> None:
        go = asyncio.Event()
        self.addCleanup(go.set)

        class Slow(FrameProcessor):
            heard = 0

            async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
                await super().process_frame(frame, direction)
                if isinstance(frame, InputAudioRawFrame):
                    Slow.heard += 1
                    await go.wait()
                await self.push_frame(frame, direction)

        call = Call(Slow())
        host = await self.call(call)
        sent = 0
        for _ in range(100):
            # As much as the host may have on its way.
            while sent < max(host.heard, default=0) + 25:
                host.audio_in(sent * 20, bytes(640))
                sent += 1
            await asyncio.sleep(0.005)
        self.assertLess(sent, 80)
        go.set()
        await until(lambda: Slow.heard == sent)

    async def test_rates_and_channels_that_cannot_be_are_told(self) -> None:
        for params, text in (
            ({"audio_in_sample_rate": 16001}, "audio_in_sample_rate of the pipeline is 16001"),
            ({"audio_out_channels": 2}, "audio_out_channels is 2"),
        ):
            call = Call(**params)
            end = await (await self.begin(call)).message("end")
            self.assertEqual(end["outcome"], "failed")
            self.assertIn(text, end["error"]["message"])
            if call.worker is not None:
                await call.worker.cancel()
                await until(lambda call=call: "over" in call.events)

    async def test_parameters_of_the_bot_win(self) -> None:
        call = Call(audio_out_10ms_chunks=4, audio_out_sample_rate=8000, audio_in_sample_rate=8000)
        websocket = {"path": "/ws", "remoteAddress": "::1"}
        host = await self.call(call, transport="telephony_b", websocket=websocket)
        self.assertEqual((await host.message("format"))["outputRate"], 8000)
        await call.say(0.5)
        await until(lambda: len(host.heard_bytes) >= 8000 * SAMPLE * 0.4)
        self.assertEqual({len(audio) for _, audio in host.sound}, {320 * SAMPLE})


if __name__ == "__main__":
    unittest.main()
