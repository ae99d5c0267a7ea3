"""The half of a pipeline's transport that brings what the caller says."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

from pipecat.audio.dtmf.types import KeypadEntry
from pipecat.frames.frames import (
    CancelFrame,
    ClientConnectedFrame,
    EndFrame,
    InputAudioRawFrame,
    InputDTMFFrame,
    InputTransportMessageFrame,
    StartFrame,
)
from pipecat.transports.base_input import BaseInputTransport
from pipecat.transports.base_transport import TransportParams

from ..link.host_messages import Connected, Dtmf, HostMessage, Message
from .pipeline_link import PipelineLink
from .rates import rates_of

#: Frames of sound that may wait in the pipeline. Beyond them the caller's sound waits at the host, which drops the
#: oldest: queues of the library have no end.
BEHIND_LIMIT = 25
BEHIND_CHECK_S = 0.01
#: A pipeline has fewer parts than this.
PARTS_LIMIT = 256
_KEYS = frozenset(entry.value for entry in KeypadEntry)


class PipelineInput(BaseInputTransport):
    """Pushes sound, messages and keys, no faster than the pipeline takes sound."""

    def __init__(
        self,
        link: PipelineLink,
        params: TransportParams,
        tell: Callable[..., Awaitable[None]],
        **kwargs: Any,
    ) -> None:
        super().__init__(params, **kwargs)
        # The library has a `link` of its own on every processor.
        self._botcli_link = link
        self._botcli_tell = tell
        self._botcli_setup: Any = None
        self._botcli_jobs: list[Any] = []
        self._botcli_listening = asyncio.Event()
        self._botcli_queues: list[Any] | None = None

    async def setup(self, setup: Any) -> None:
        """Keeps what the pipeline is made with."""
        await super().setup(setup)
        self._botcli_setup = setup

    async def start(self, frame: StartFrame) -> None:
        """Begins to listen."""
        await super().start(frame)
        self._botcli_link.open(*rates_of(self._params, self._botcli_setup, frame))
        await self.set_transport_ready(frame)
        if self._params.audio_in_stream_on_start:
            self._botcli_listening.set()
        if not self._botcli_jobs:
            self._botcli_jobs = [self.create_task(self._read_messages()), self.create_task(self._read_audio())]

    async def stop(self, frame: EndFrame) -> None:
        """Listens no more."""
        await super().stop(frame)
        await self._leave()

    async def cancel(self, frame: CancelFrame) -> None:
        """Listens no more."""
        await super().cancel(frame)
        await self._leave()

    async def cleanup(self) -> None:
        """Listens no more."""
        await super().cleanup()  # type: ignore[no-untyped-call]
        await self._leave()

    async def _start_audio_in_streaming(self) -> None:
        self._botcli_listening.set()

    if not hasattr(BaseInputTransport, "_start_audio_in_streaming"):
        # Before 1.4.
        start_audio_in_streaming = _start_audio_in_streaming

    async def _leave(self) -> None:
        jobs, self._botcli_jobs = self._botcli_jobs, []
        for job in jobs:
            await self.cancel_task(job)

    async def _read_messages(self) -> None:
        connected = False
        async for message in self._botcli_link.inbox():
            if not isinstance(message, Connected):
                await self._take(message)
            elif not connected:
                connected = True
                await self._botcli_tell("on_client_connected")
                await self.push_frame(ClientConnectedFrame())
        # This task is gone by then when it was the bot that ended the session.
        await self._botcli_tell("on_client_disconnected")

    async def _take(self, message: HostMessage) -> None:
        if isinstance(message, Message):
            await self._botcli_tell("on_app_message", message.data)
            if isinstance(message.data, dict):
                # In both directions, since the processor for RTVI is in front of this one.
                await self.broadcast_frame(InputTransportMessageFrame, message=message.data)
        elif isinstance(message, Dtmf):
            for key in message.keys:
                if key in _KEYS:
                    await self.push_frame(InputDTMFFrame(button=KeypadEntry(key)))

    async def _read_audio(self) -> None:
        # Sound that nobody reads is not kept, so that the pipeline hears from now on.
        await self._botcli_listening.wait()
        async for heard in self._botcli_link.hearing.read():
            await self.push_audio_frame(
                InputAudioRawFrame(audio=heard.audio, sample_rate=heard.sample_rate, num_channels=1)
            )
            while self._behind() > BEHIND_LIMIT:
                await asyncio.sleep(BEHIND_CHECK_S)

    def _behind(self) -> int:
        """Frames that wait where most do."""
        if self._botcli_queues is None:
            self._botcli_queues = [queue for part in _parts_after(self) if (queue := _queue_of(part)) is not None]
        own = getattr(self, "_audio_in_queue", None)
        most = 0 if own is None else own.qsize()
        for queue in self._botcli_queues:
            most = max(most, queue.qsize())
        return int(most)


def _queue_of(part: Any) -> Any:
    return getattr(part, "_FrameProcessor__input_queue", None)


def _parts_after(first: Any) -> Iterator[Any]:
    """All parts of a pipeline behind this one, also those of branches. It does not change any more."""
    known: set[int] = set()
    waiting = [first.next]
    while waiting and len(known) < PARTS_LIMIT:
        part = waiting.pop()
        if part is None or id(part) in known:
            continue
        known.add(id(part))
        yield part
        waiting.append(part.next)
        waiting.extend(getattr(part, "entry_processors", []))
