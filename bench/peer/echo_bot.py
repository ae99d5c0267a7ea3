"""The echo bot for the peer's runner: the same job as examples/echo, and its rates unless others are asked for."""

import os
import sys
import time

from loguru import logger
from pipecat.frames.frames import InputAudioRawFrame, OutputAudioRawFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.runner.types import WebSocketRunnerArguments
from pipecat.runner.utils import create_transport, parse_telephony_websocket
from pipecat.serializers.protobuf import ProtobufFrameSerializer
from pipecat.serializers.twilio import TwilioFrameSerializer
from pipecat.transports.base_transport import TransportParams
from pipecat.transports.websocket.fastapi import FastAPIWebsocketParams, FastAPIWebsocketTransport
from pipecat.workers.runner import WorkerRunner

RATE = 16000


def rates():
    """The rates of the pipeline: its own defaults, those of a phone, or those of examples/echo."""
    asked = os.environ.get("BENCH_RATES")
    if asked == "default":
        return PipelineParams()
    if asked == "phone":
        return PipelineParams(audio_in_sample_rate=8000, audio_out_sample_rate=8000)
    return PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE)


async def phone_transport(websocket):
    """What create_transport makes of a phone call, but without the hang-up, which needs an account."""
    _, call = await parse_telephony_websocket(websocket)
    serializer = TwilioFrameSerializer(
        stream_sid=call["stream_id"],
        call_sid=call["call_id"],
        params=TwilioFrameSerializer.InputParams(auto_hang_up=False),
    )
    return FastAPIWebsocketTransport(
        websocket=websocket,
        params=FastAPIWebsocketParams(
            audio_in_enabled=True,
            audio_out_enabled=True,
            add_wav_header=False,
            serializer=serializer,
        ),
    )


class Echo(FrameProcessor):
    """Sends the caller's sound back, from a moment after the start on where one is given."""

    def __init__(self, deaf_seconds=0):
        super().__init__()
        self._from = time.monotonic() + deaf_seconds

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            if time.monotonic() < self._from:
                return
            frame = OutputAudioRawFrame(
                audio=frame.audio,
                sample_rate=frame.sample_rate,
                num_channels=frame.num_channels,
            )
        await self.push_frame(frame, direction)


async def make_transport(args):
    """The transport of a session."""
    if isinstance(args, WebSocketRunnerArguments) and args.transport_type != "websocket":
        return await phone_transport(args.websocket)
    return await create_transport(
        args,
        {
            "webrtc": lambda: TransportParams(audio_in_enabled=True, audio_out_enabled=True),
            "websocket": lambda: FastAPIWebsocketParams(
                audio_in_enabled=True,
                audio_out_enabled=True,
                serializer=ProtobufFrameSerializer(),
            ),
        },
    )


async def bot(args):
    """Runs one session."""
    called_at = time.monotonic_ns()
    calls = os.environ.get("BENCH_CALLS")
    if calls:
        with open(calls, "a") as file:
            file.write(f"{called_at}\n")

    # Its runner logs every step by default; that would be measured too.
    logger.remove()
    logger.add(sys.stderr, level="WARNING")

    transport = await make_transport(args)
    # What a phone says before the bot listens comes in one go, and an echo of it would stay late for the whole call.
    echo = Echo(deaf_seconds=0.5 if "BENCH_RATES" in os.environ else 0)
    worker = PipelineWorker(
        Pipeline([transport.input(), echo, transport.output()]),
        params=rates(),
    )

    @transport.event_handler("on_client_disconnected")
    async def on_client_disconnected(transport, client):
        await worker.cancel()

    runner = WorkerRunner(handle_sigint=False)
    await runner.add_workers(worker)
    await runner.run()


if __name__ == "__main__":
    from pipecat.runner.run import main

    main()
