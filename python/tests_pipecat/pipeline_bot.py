"""Bots of the library for the tests, whatever its version."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import playing_host  # noqa: F401  (makes our package importable)
from pipecat.frames.frames import (
    BotStartedSpeakingFrame,
    BotStoppedSpeakingFrame,
    Frame,
    InputAudioRawFrame,
    InputDTMFFrame,
    InterruptionFrame,
    OutputAudioRawFrame,
    TTSAudioRawFrame,
    TTSStartedFrame,
    TTSStoppedFrame,
)
from pipecat.pipeline.pipeline import Pipeline
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.transports.base_transport import TransportParams

from botcli import create_transport

try:
    from pipecat.pipeline.worker import PipelineParams, PipelineWorker
    from pipecat.workers.runner import WorkerRunner
except ImportError:
    # Their names before 1.3.
    from pipecat.pipeline.runner import PipelineRunner as WorkerRunner
    from pipecat.pipeline.task import PipelineParams
    from pipecat.pipeline.task import PipelineTask as PipelineWorker

RATE = 16_000


class Echo(FrameProcessor):
    """Says again what it hears."""

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            sound = OutputAudioRawFrame(audio=frame.audio, sample_rate=frame.sample_rate, num_channels=1)
            await self.push_frame(sound)
        else:
            await self.push_frame(frame, direction)


class Watch(FrameProcessor):
    """Notes what passes, and when."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[str, float]] = []
        self.frames: list[Frame] = []

    def times(self, kind: type) -> list[float]:
        return [at for name, at in self.seen if name == kind.__name__]

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if not isinstance(frame, (InputAudioRawFrame, OutputAudioRawFrame)):
            self.frames.append(frame)
            self.seen.append((type(frame).__name__, time.monotonic()))
        await self.push_frame(frame, direction)


class Call:
    """A bot in one session: `[input, *parts, watch, output]`."""

    def __init__(self, *parts: FrameProcessor, cancel_on_leave: bool = True, **params: Any) -> None:
        self.parts = parts
        self.watch = Watch()
        self.params = {"audio_in_enabled": True, "audio_out_enabled": True, **params}
        self.cancel_on_leave = cancel_on_leave
        self.events: list[str] = []
        self.ready = asyncio.Event()
        self.transport: Any = None
        self.worker: Any = None
        self.then: Callable[[], Awaitable[None]] | None = None

    async def bot(self, args: Any) -> None:
        kind = args.transport_type if hasattr(args, "transport_type") else "webrtc"
        transport = await create_transport(args, {kind: lambda: TransportParams(**self.params)})
        self.transport = transport

        @transport.event_handler("on_client_connected")
        async def connected(transport: Any, client: Any) -> None:
            self.events.append(f"connected {getattr(client, 'pc_id', None)}")

        @transport.event_handler("on_app_message")
        async def message(transport: Any, data: Any, sender: str) -> None:
            self.events.append(f"message {data}")

        @transport.event_handler("on_client_disconnected")
        async def disconnected(transport: Any, client: Any) -> None:
            self.events.append("disconnected")
            if self.cancel_on_leave:
                await self.worker.cancel()

        pipeline = Pipeline([transport.input(), *self.parts, self.watch, transport.output()])
        params = PipelineParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE)
        self.worker = PipelineWorker(pipeline, params=params)
        self.worker.add_event_handler("on_pipeline_started", self._started)
        runner = WorkerRunner(handle_sigint=False)
        if hasattr(runner, "add_workers"):
            await runner.add_workers(self.worker)
            await runner.run()
        else:
            await runner.run(self.worker)
        self.events.append("over")

    async def _started(self, *_: object) -> None:
        self.ready.set()

    async def say(self, seconds: float, sample: bytes = b"\x10\x10", kind: type = TTSAudioRawFrame) -> None:
        """As a voice does: all of it at once."""
        audio = sample * int(RATE * seconds)
        await self.worker.queue_frames(
            [TTSStartedFrame(), kind(audio=audio, sample_rate=RATE, num_channels=1), TTSStoppedFrame()]
        )


__all__ = [
    "RATE",
    "BotStartedSpeakingFrame",
    "BotStoppedSpeakingFrame",
    "Call",
    "Echo",
    "InputDTMFFrame",
    "InterruptionFrame",
    "Watch",
]
