"""What goes into and comes out of a transport."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Literal, get_args

#: Signed 16-bit little-endian samples, mono.
AudioData = bytes | bytearray | memoryview | array  # type: ignore[type-arg]

TransportEvent = Literal["connected", "disconnected", "ended", "audio", "message", "dtmf"]
TRANSPORT_EVENTS: tuple[TransportEvent, ...] = get_args(TransportEvent)


@dataclass(slots=True)
class AudioFrame:
    """A piece of mono sound."""

    #: Signed 16-bit little-endian samples.
    audio: bytes
    sample_rate: int
    #: Milliseconds since the session began at which this sound reached the runner.
    captured_at: int

    @property
    def samples(self) -> memoryview:
        """The same sound as numbers, without a copy."""
        return memoryview(self.audio).cast("h")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportParams:
    """What a bot wants from its transport."""

    #: Rate at which the bot hears the caller.
    audio_in_sample_rate: int = 16_000
    #: Rate of the audio that the bot will send.
    audio_out_sample_rate: int = 24_000
    #: Answer `client-ready` and offer `transport.rtvi`.
    rtvi: bool = True


@dataclass(frozen=True, slots=True)
class ClearResult:
    """What happened to the bot's sound when it was cut short."""

    #: Milliseconds that the caller was played since the clear before this one.
    played_ms: float


@dataclass(frozen=True, slots=True)
class EndReason:
    """Why a session is over, in one word and in a sentence."""

    cause: str
    message: str
