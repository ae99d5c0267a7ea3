"""Bots as they are written for the library's own runner, in guests of ours."""

from __future__ import annotations

import asyncio
import base64
import fractions
import importlib.util
import inspect
import json
import math
import os
import re
import struct
import unittest
from typing import Any
from unittest import mock

import playing_host  # noqa: F401  (makes our package importable)
from aiortc import MediaStreamTrack, RTCPeerConnection, RTCSessionDescription
from av import AudioFrame
from pipecat.frames.protobufs import frames_pb2
from pipecat.runner import utils
from support.host import Host, until
from support.process import GuestProcess

HAS_EVALS = importlib.util.find_spec("pipecat.evals") is not None and bool(
    importlib.util.find_spec("pipecat.evals.fastapi_transport")
)
#: Plain sockets came to the library's runner with the evaluations over them.
HAS_PLAIN_SOCKETS = '"websocket"' in inspect.getsource(utils.create_transport)

BOT = """
    import sys
    from pipecat.frames.frames import InputAudioRawFrame, OutputAudioRawFrame
    from pipecat.pipeline.pipeline import Pipeline
    from pipecat.processors.frame_processor import FrameProcessor
    from pipecat.runner.types import RunnerArguments
    from pipecat.runner.utils import create_transport
    from pipecat.serializers.protobuf import ProtobufFrameSerializer
    from pipecat.transports.base_transport import TransportParams
    from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams

    try:
        from pipecat.pipeline.worker import PipelineParams, PipelineWorker
        from pipecat.workers.runner import WorkerRunner
    except ImportError:
        from pipecat.pipeline.runner import PipelineRunner as WorkerRunner
        from pipecat.pipeline.task import PipelineParams
        from pipecat.pipeline.task import PipelineTask as PipelineWorker
    try:
        from pipecat.evals.transport import EvalTransportParams
    except ImportError:
        EvalTransportParams = TransportParams


    class Echo(FrameProcessor):
        async def process_frame(self, frame, direction):
            await super().process_frame(frame, direction)
            if isinstance(frame, InputAudioRawFrame):
                frame = OutputAudioRawFrame(audio=frame.audio, sample_rate=frame.sample_rate, num_channels=1)
            await self.push_frame(frame, direction)


    on = {"audio_in_enabled": True, "audio_out_enabled": True}
    transport_params = {
        "webrtc": lambda: TransportParams(**on),
        "twilio": lambda: FastAPIWebsocketParams(**on),
        "websocket": lambda: FastAPIWebsocketParams(serializer=ProtobufFrameSerializer(), **on),
        "eval": lambda: EvalTransportParams(**on),
    }


    async def bot(runner_args: RunnerArguments):
        transport = await create_transport(runner_args, transport_params)
        pipeline = Pipeline([transport.input(), Echo(), transport.output()])
        rates = PipelineParams(audio_in_sample_rate=16000, audio_out_sample_rate=16000)
        worker = PipelineWorker(pipeline, params=rates)

        @transport.event_handler("on_client_connected")
        async def on_client_connected(transport, client):
            print("connected", flush=True)

        @transport.event_handler("on_client_disconnected")
        async def on_client_disconnected(transport, client):
            print("disconnected", flush=True)
            await worker.cancel()

        runner = WorkerRunner(handle_sigint=runner_args.handle_sigint)
        if hasattr(runner, "add_workers"):
            await runner.add_workers(worker)
            await runner.run()
        else:
            await runner.run(worker)
        print("over", runner_args.session_id, flush=True)
"""
OURS = (
    BOT.replace("from pipecat.runner.types import RunnerArguments\n", "RunnerArguments = object\n")
    .replace("from pipecat.runner.utils import create_transport", "from botcli import create_transport")
    .replace('"twilio"', '"telephony_a"')
)
WEBSOCKET = {"path": "/ws", "remoteAddress": "127.0.0.1", "headers": {"host": "localhost"}}


class Tone(MediaStreamTrack):
    """A tone, in real time."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._at = 0
        self._start: float | None = None

    async def recv(self) -> AudioFrame:
        loop = asyncio.get_running_loop()
        self._start = loop.time() if self._start is None else self._start
        await asyncio.sleep(max(self._start + self._at / 48000 - loop.time(), 0))
        samples = (int(9000 * math.sin(2 * math.pi * 440 * (self._at + i) / 48000)) for i in range(960))
        frame = AudioFrame(format="s16", layout="mono", samples=960)
        frame.planes[0].update(struct.pack("<960h", *samples))
        frame.sample_rate, frame.pts, frame.time_base = 48000, self._at, fractions.Fraction(1, 48000)
        self._at += 960
        return frame


class ForeignBotTest(unittest.IsolatedAsyncioTestCase):
    async def start(self, bot: str = BOT, **start: Any) -> tuple[GuestProcess, Host]:
        credentials = {"TELEPHONY_A_ACCOUNT_ID": "account", "TELEPHONY_A_AUTH_TOKEN": "token"}
        with mock.patch.dict(os.environ, credentials):
            guest, sock = await GuestProcess.start(bot)
        self.addAsyncCleanup(guest.close)
        host = await Host.on(sock)
        self.addAsyncCleanup(host.close)
        ready = await host.message("ready")
        self.assertEqual(ready.get("passThrough", False), bot is not OURS)
        host.send("start", start={"sessionId": "s-1", "body": {}, "passThrough": True, **start})
        return guest, host

    async def leave(self, guest: GuestProcess, host: Host) -> str:
        """The caller leaves; gives what the bot has printed."""
        host.cancel()
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        await host.close()
        code, output, errors = await guest.exit()
        self.assertEqual(code, 0, errors)
        return output

    async def test_a_phone_call(self) -> None:
        guest, host = await self.start(transport="telephony_a", websocket=WEBSOCKET)
        host.pass_on(json.dumps({"event": "connected", "protocol": "Call"}))
        begin = {"streamSid": "MZ1", "callSid": "CA1", "customParameters": {}}
        host.pass_on(json.dumps({"event": "start", "streamSid": "MZ1", "start": begin}))
        sound = base64.b64encode(bytes(range(160))).decode()

        def media() -> list[dict[str, Any]]:
            messages = [json.loads(message) for message in host.socket]
            return [message for message in messages if message["event"] == "media"]

        for _ in range(200):
            host.pass_on(json.dumps({"event": "media", "streamSid": "MZ1", "media": {"payload": sound}}))
            await asyncio.sleep(0.02)
            if len(media()) >= 3:
                break
        self.assertEqual(media()[0]["streamSid"], "MZ1")
        self.assertEqual(await self.leave(guest, host), "connected\ndisconnected\nover s-1\n")

    @unittest.skipUnless(HAS_PLAIN_SOCKETS, "this version of the library has no plain sockets in its runner")
    async def test_a_plain_socket(self) -> None:
        guest, host = await self.start(transport="websocket", websocket={**WEBSOCKET, "path": "/ws-client"})
        sound = struct.pack("<320h", *range(1, 321))
        for _ in range(200):
            frame = frames_pb2.Frame(audio=frames_pb2.AudioRawFrame(audio=sound, sample_rate=16000, num_channels=1))
            host.pass_on(frame.SerializeToString())
            await asyncio.sleep(0.02)
            if len(host.socket) >= 3:
                break
        answer = frames_pb2.Frame()
        said = host.socket[0]
        assert isinstance(said, bytes)
        answer.ParseFromString(said)
        self.assertEqual(answer.audio.audio[: len(sound)], sound)
        self.assertEqual(await self.leave(guest, host), "connected\ndisconnected\nover s-1\n")

    @unittest.skipUnless(HAS_EVALS, "this version of the library has no evaluations over its runner's socket")
    async def test_an_evaluation_of_a_bot_of_any_kind(self) -> None:
        for bot in (BOT, OURS):
            guest, host = await self.start(bot, transport="eval", websocket=WEBSOCKET)
            rtvi = {"label": "rtvi-ai", "type": "client-message", "id": "1"}
            host.pass_on(json.dumps({**rtvi, "data": {"t": "eval-connect", "d": {"skip_tts": True}}}))
            host.pass_on(json.dumps({**rtvi, "type": "client-ready", "data": {"version": "1.0.0"}}))
            await until(lambda host=host: any("bot-ready" in str(message) for message in host.socket))
            self.assertIn("connected\ndisconnected\nover", await self.leave(guest, host))

    @unittest.skipUnless(HAS_EVALS, "this version of the library has no evaluations over its runner's socket")
    async def test_no_evaluation_comes_in_as_a_phone_call(self) -> None:
        guest, host = await self.start(transport="telephony_a", websocket=WEBSOCKET)
        connect = '{"label": "rtvi-ai", "type": "client-message", "data": {"t": "eval-connect"}, "id": NaN}'
        host.pass_on(connect)
        host.pass_on('{"label": "rtvi-ai", "type": "client-ready", "id": "1", "data": {"version": "1.0.0"}}')
        self.assertEqual((await host.message("socket-close"))["code"], 1008)
        await host.message("end")
        self.assertEqual((host.socket, guest.stdout), ([], b""))

    async def test_a_peer_connection(self) -> None:
        guest, host = await self.start(transport="webrtc")
        host.send("offer", id=1, sdp="this is none", restart=False)
        refusal = await host.message("answer")
        self.assertEqual(refusal["id"], 1)
        self.assertIn("message", refusal["error"])
        pc = RTCPeerConnection()
        self.addAsyncCleanup(pc.close)
        tracks: list[Any] = []
        pc.on("track", tracks.append)
        channel = pc.createDataChannel("chat", ordered=True)
        pc.addTrack(Tone())
        await self.offer(host, pc, 2, restart=False)
        await until(lambda: any(m == {"type": "peer", "state": "connected"} for m in host.messages))
        await self.hears_a_tone(tracks[0])
        # Again, as when the network has changed.
        await self.offer(host, pc, 3, restart=False)
        await self.hears_a_tone(tracks[0])
        await until(lambda: channel.readyState == "open")
        await pc.close()
        await until(lambda: any(m == {"type": "peer", "state": "closed"} for m in host.messages))
        self.assertEqual(await self.leave(guest, host), "connected\ndisconnected\nover s-1\n")

    async def test_a_later_offer_that_is_no_good_changes_nothing(self) -> None:
        guest, host = await self.start(transport="webrtc")
        pc = RTCPeerConnection()
        self.addAsyncCleanup(pc.close)
        tracks: list[Any] = []
        pc.on("track", tracks.append)
        pc.createDataChannel("chat", ordered=True)
        pc.addTrack(Tone())
        await self.offer(host, pc, 1, restart=False)
        await until(lambda: any(m == {"type": "peer", "state": "connected"} for m in host.messages))
        await self.hears_a_tone(tracks[0])
        other = RTCPeerConnection()
        self.addAsyncCleanup(other.close)
        other.addTransceiver("video")
        await other.setLocalDescription(await other.createOffer())
        good = pc.localDescription.sdp
        bad = [
            "x",
            "v=0\r\n",
            "v=0\r\nm=audio\r\n",
            good.replace("a=ice-ufrag", "a=x"),
            re.sub(r"(opus|PCMU|PCMA|G722)/", "none/", good),
            good.replace("a=candidate:", "a=candidate:x "),
            good[: good.index("m=audio")] + good[good.index("m=application") :],
        ]
        offers = [(sdp, restart) for sdp in bad for restart in (False, True)]
        # For another connection than the one that is there.
        offers.append((other.localDescription.sdp, False))
        for id, (sdp, restart) in enumerate(offers, 2):
            with self.subTest(sdp=sdp[-300:], restart=restart):
                host.send("offer", id=id, sdp=sdp, restart=restart)
                answer = await self.answer_to(host, id)
                self.assertIn("message", answer.get("error", {}), answer)
        await self.hears_a_tone(tracks[0])
        states = [m["state"] for m in host.messages if m["type"] == "peer"]
        self.assertEqual((states, pc.connectionState), (["connected"], "connected"))
        await self.offer(host, pc, 99, restart=False)
        await self.hears_a_tone(tracks[0])
        self.assertEqual(await self.leave(guest, host), "connected\ndisconnected\nover s-1\n")

    async def test_a_peer_that_vanishes_is_lost(self) -> None:
        # It is noticed when nothing has come for some time, which is half a minute elsewhere.
        impatient = BOT.replace("import sys", "import aioice.ice; aioice.ice.CONSENT_INTERVAL = 0.2", 1)
        guest, host = await self.start(impatient, transport="webrtc")
        pc = RTCPeerConnection()
        self.addAsyncCleanup(pc.close)
        pc.createDataChannel("chat", ordered=True)
        pc.addTrack(Tone())
        await self.offer(host, pc, 1, restart=False)
        await until(lambda: any(m == {"type": "peer", "state": "connected"} for m in host.messages))
        # Without a word to the other end.
        await pc.getTransceivers()[0].receiver.transport.transport._connection.close()
        await until(lambda: any(m == {"type": "peer", "state": "lost"} for m in host.messages))
        self.assertNotIn({"type": "peer", "state": "closed"}, host.messages)
        self.assertIn("disconnected\nover s-1\n", await self.leave(guest, host))

    async def test_a_peer_that_begins_anew(self) -> None:
        guest, host = await self.start(transport="webrtc")
        for id, restart in ((1, False), (2, True)):
            pc = RTCPeerConnection()
            self.addAsyncCleanup(pc.close)
            # Silent, because the library never comes back from a write that is under way when it begins anew.
            pc.addTransceiver("audio")
            await self.offer(host, pc, id, restart=restart)
            await until(lambda id=id: host.messages.count({"type": "peer", "state": "connected"}) == id)
        self.assertNotIn({"type": "peer", "state": "closed"}, host.messages)
        self.assertEqual(len({m["pcId"] for m in host.messages if m["type"] == "answer"}), 2)
        self.assertIn("over s-1\n", await self.leave(guest, host))

    async def test_the_end_of_a_session_reaches_a_peer(self) -> None:
        guest, host = await self.start(transport="webrtc")
        pc = RTCPeerConnection()
        self.addAsyncCleanup(pc.close)
        said: list[str] = []
        channel = pc.createDataChannel("chat", ordered=True)
        channel.on("message", said.append)
        pc.addTrack(Tone())
        await self.offer(host, pc, 1, restart=False)
        await until(lambda: b"connected\n" in guest.stdout)
        await until(lambda: channel.readyState == "open")
        self.assertEqual(await self.leave(guest, host), "connected\ndisconnected\nover s-1\n")
        await until(lambda: any("peerLeft" in message for message in said))

    async def offer(self, host: Host, pc: Any, id: int, *, restart: bool) -> None:
        await pc.setLocalDescription(await pc.createOffer())
        host.send("offer", id=id, sdp=pc.localDescription.sdp, restart=restart)
        host.send("candidates", candidates=[{"candidate": "", "mid": "0"}, {"candidate": "nonsense", "mid": "0"}])
        answer = await self.answer_to(host, id)
        self.assertIn("sdp", answer, answer)
        self.assertTrue(answer["pcId"])
        await pc.setRemoteDescription(RTCSessionDescription(sdp=answer["sdp"], type="answer"))

    async def answer_to(self, host: Host, id: int) -> dict[str, Any]:
        return await until(lambda: next((m for m in host.messages if m["type"] == "answer" and m["id"] == id), None))

    async def hears_a_tone(self, track: Any) -> None:
        for _ in range(500):
            frame = await asyncio.wait_for(track.recv(), 5)
            samples = struct.unpack(f"<{frame.samples * 2}h", bytes(frame.planes[0])[: frame.samples * 4])
            if max(samples) > 3000:
                return
        self.fail("no tone was heard")


if __name__ == "__main__":
    unittest.main()
