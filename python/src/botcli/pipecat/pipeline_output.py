"""The half of a pipeline's transport that the caller hears."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from pipecat.frames.frames import (
    CancelFrame,
    EndFrame,
    Frame,
    InterruptionFrame,
    OutputAudioRawFrame,
    OutputDTMFFrame,
    OutputDTMFUrgentFrame,
    OutputTransportMessageFrame,
    OutputTransportMessageUrgentFrame,
    StartFrame,
    SystemFrame,
    TTSStoppedFrame,
)
from pipecat.processors.frame_processor import FrameDirection
from pipecat.transports.base_output import BaseOutputTransport
from pipecat.transports.base_transport import TransportParams

from ..playback import SAMPLE_BYTES
from .pipeline_link import PipelineLink
from .rates import rates_of

#: How long the caller's side may take to play what is left at the end.
LAST_SOUND_S = 5.0


class _Piece(NamedTuple):
    """Sound that may not have been played yet."""

    end: int
    audio: bytes
    interruptible: bool


class PipelineOutput(BaseOutputTransport):
    """Writes sound at the pace at which the caller hears it, and drops it at once when the caller interrupts."""

    def __init__(self, link: PipelineLink, params: TransportParams, **kwargs: Any) -> None:
        super().__init__(params, **kwargs)
        # The library has a `link` of its own on every processor.
        self._botcli_link = link
        self._botcli_setup: Any = None
        #: Sound in frames with smaller numbers is from before the last interruption.
        self._botcli_cut = 0
        self._botcli_unplayed: deque[_Piece] = deque()

    async def setup(self, setup: Any) -> None:
        """Keeps what the pipeline is made with."""
        await super().setup(setup)
        self._botcli_setup = setup

    async def start(self, frame: StartFrame) -> None:
        """Begins to speak."""
        await super().start(frame)
        self._botcli_link.open(*rates_of(self._params, self._botcli_setup, frame))
        await self.set_transport_ready(frame)
        for sender in self._media_senders.values():
            self._time_stops(sender)

    async def stop(self, frame: EndFrame) -> None:
        """Returns when the caller has heard everything."""
        await super().stop(frame)
        try:
            async with asyncio.timeout(LAST_SOUND_S):
                await self._botcli_link.drained()
        except TimeoutError:
            # The caller's wire is down. There is no limit of the library's own here.
            self._botcli_link.silence()

    async def cancel(self, frame: CancelFrame) -> None:
        """Is silent at once."""
        self._botcli_link.silence()
        await super().cancel(frame)

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Drops sound before anything else when the caller interrupts."""
        interrupted = isinstance(frame, InterruptionFrame)
        if interrupted:
            self._interrupt()
        await super().process_frame(frame, direction)
        if interrupted:
            # What came in between is older than the interruption, too: the library has just dropped the rest of it.
            self._interrupt()

    async def write_audio_frame(self, frame: OutputAudioRawFrame) -> bool:
        """Returns when the caller is about to hear this; False when that will not be."""
        sound = self._botcli_link.sound
        interruptible = _is_interruptible(frame)
        if sound is None or self._botcli_link.end_reason is not None:
            if self._params.audio_out_mixer:
                # It makes sound without end, and would keep the loop from everything else.
                await asyncio.sleep(len(frame.audio) / SAMPLE_BYTES / self.sample_rate)
            return False
        if interruptible and frame.id < self._botcli_cut:
            return False
        cut = self._botcli_cut
        self._forget_played(sound.played)
        end = sound.length + len(frame.audio) // SAMPLE_BYTES
        self._botcli_unplayed.append(_Piece(end, frame.audio, interruptible))
        await sound.add(frame.audio)
        return not interruptible or cut == self._botcli_cut

    async def send_message(self, frame: OutputTransportMessageFrame | OutputTransportMessageUrgentFrame) -> None:
        """Sends an application message. Never waits, since it may be called between an interruption and its clear."""
        self._botcli_link.send_message(frame.message)

    def _supports_native_dtmf(self) -> bool:
        return True

    async def _write_dtmf_native(self, frame: OutputDTMFFrame | OutputDTMFUrgentFrame) -> None:
        if isinstance(frame, OutputDTMFFrame):
            await self._botcli_link.drained()
        # One key in older versions.
        buttons = getattr(frame, "buttons", None) or [frame.button]
        self._botcli_link.send_dtmf("".join(button.value for button in buttons if button is not None))

    def _interrupt(self) -> None:
        """Drops what may be dropped. Numbers of frames only grow, so this one parts the old from the new."""
        self._botcli_cut = SystemFrame().id
        sound, unplayed = self._botcli_link.sound, self._botcli_unplayed
        if sound is None:
            return
        played = sound.played
        self._forget_played(played)
        kept = [piece for piece in unplayed if not piece.interruptible]
        if len(kept) == len(unplayed):
            return
        unplayed.clear()
        sound.clear()
        for piece in kept:
            # Of one that is being played now, only the rest.
            start = piece.end - len(piece.audio) // SAMPLE_BYTES
            rest = piece.audio[max(played - start, 0) * SAMPLE_BYTES :]
            sound.put(rest)
            unplayed.append(_Piece(sound.length, rest, False))

    def _forget_played(self, played: int) -> None:
        while self._botcli_unplayed and self._botcli_unplayed[0].end <= played:
            self._botcli_unplayed.popleft()

    def _time_stops(self, sender: Any) -> None:
        """Lets a sender say that the bot has stopped when the caller has heard it, and not when it was written."""
        handle: Callable[[Frame], Awaitable[None]] | None = getattr(sender, "_handle_frame", None)
        if handle is None:
            # It is the library's own affair, and another version may do it otherwise; then the stop is a little early.
            return

        async def handle_in_time(frame: Frame) -> None:
            # With a mixer there is always more to play; to wait would be a gap.
            if isinstance(frame, TTSStoppedFrame) and getattr(sender, "_mixer", None) is None:
                await self._botcli_link.drained()
            await handle(frame)

        sender._handle_frame = handle_in_time


def _is_interruptible(frame: Frame) -> bool:
    """Older versions cannot tell; there sound always is."""
    return bool(getattr(frame, "interruptible", True))
