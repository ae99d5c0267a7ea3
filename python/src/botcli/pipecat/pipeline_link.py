"""A session as both halves of a pipeline's transport see it."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator

from loguru import logger

from ..errors import BotError
from ..gate import Gate
from ..hearing import Hearing
from ..link.host_messages import Cleared, Connected, Disconnected, HostMessage
from ..outgoing_message import spell_message
from ..playback import Playback
from ..session_port import SessionPort
from ..transport import BACKLOG_LIMIT_BYTES
from ..transport_types import AudioFrame, EndReason

#: How far the pipeline is ahead of the caller's ear. Less could be heard whenever the bot's loop is busy for a moment.
AHEAD_MS = 100
#: Messages that wait for a pipeline that has not started, or does not take them.
INBOX_LIMIT = 1024


class PipelineLink:
    """Sound and messages both ways. The rates are known only when the pipeline starts, and only then sound flows."""

    def __init__(self, session: SessionPort) -> None:
        self._session = session
        self._inbox: deque[HostMessage] = deque()
        self._arrival = Gate()
        self._in_rate = 0
        self._end_reason: EndReason | None = None
        self.hearing = Hearing(session.send_heard)
        self.sound: Playback | None = None
        session.attach(self)

    @property
    def end_reason(self) -> EndReason | None:
        """Why the session is over, once it is."""
        return self._end_reason

    def open(self, in_rate: int, out_rate: int) -> None:
        """Lets sound flow. The half that starts first does it."""
        if self.sound is not None or self._end_reason is not None:
            return
        for name, rate in (("audio_in_sample_rate", in_rate), ("audio_out_sample_rate", out_rate)):
            if not 8000 <= rate <= 48_000 or rate % 50 != 0:
                text = f"{name} of the pipeline is {rate}; it must be a multiple of 50 from 8000 to 48000"
                # A pipeline goes on without a part that cannot start, so that nobody would notice.
                error = BotError("invalid_params", text)
                self._session.fail(error)
                raise error
        self._in_rate = in_rate
        self.sound = Playback(self._session, out_rate, AHEAD_MS)
        self._session.send_format(in_rate, out_rate)

    async def inbox(self) -> AsyncIterator[HostMessage]:
        """What the caller's side says, until the session is over."""
        while True:
            if self._inbox:
                yield self._inbox.popleft()
            elif self._end_reason is not None:
                return
            else:
                await self._arrival.wait()

    def send_message(self, message: object) -> None:
        """Sends an application message. One that cannot be sent is no reason for the pipeline to stop."""
        if self._end_reason is not None:
            return
        try:
            spelled = spell_message(message)
        except BotError as error:
            logger.error(f"a message to the client is left out: {error}")
            return
        if self._session.backlog > BACKLOG_LIMIT_BYTES:
            text = "messages are sent faster than the caller can take them; send fewer"
            self._session.fail(BotError("flooded", text))
            return
        self._session.send_message(spelled)

    def send_dtmf(self, keys: str) -> None:
        """Presses keys towards the caller's side."""
        self._session.send_dtmf(keys)

    def silence(self) -> None:
        """Drops all sound that was not played."""
        if self.sound is not None:
            self.sound.clear()

    # What the session calls.

    def message(self, message: HostMessage) -> None:
        if isinstance(message, Cleared):
            if self.sound is not None:
                self.sound.cleared(message.epoch, message.played_samples)
        elif len(self._inbox) < INBOX_LIMIT or isinstance(message, (Connected, Disconnected)):
            self._inbox.append(message)
            self._arrival.open()
        else:
            logger.warning("the pipeline does not take the client's messages; one is lost")

    def audio_in(self, captured_at: int, audio: bytes) -> None:
        self.hearing.add(AudioFrame(audio, self._in_rate, captured_at))

    def playback(self, epoch: int, played: int, limit: int) -> None:
        if self.sound is not None:
            self.sound.progress(epoch, played, limit)

    def ended(self, reason: EndReason) -> None:
        self._end_reason = reason
        if self.sound is not None:
            self.sound.end()
        self.hearing.end()
        self._arrival.open()

    async def drained(self) -> None:
        """Returns when the caller has heard everything."""
        if self.sound is not None:
            await self.sound.drained()
