"""A transport that needs no other package."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from .audio_data import audio_bytes
from .emitter import Emitter
from .errors import BotError
from .gate import Gate
from .hearing import Hearing
from .keys import is_keys
from .link.host_messages import Cleared, Connected, Disconnected, Dtmf, HostMessage, Message
from .listener_calls import Listener
from .outgoing_message import spell_message
from .playback import Playback
from .rtvi import Rtvi
from .session_port import SessionPort
from .transport_types import (
    TRANSPORT_EVENTS,
    AudioData,
    AudioFrame,
    ClearResult,
    EndReason,
    TransportEvent,
    TransportParams,
)

#: Messages that wait for a host which does not read them; beyond this the bot talks to nobody.
BACKLOG_LIMIT_BYTES = 8 * 1024 * 1024

ListenerT = TypeVar("ListenerT", bound=Listener)


class Transport:
    """One caller, whatever the wire: sound and messages in, sound and messages out.

    Events and what their listeners get: `connected` and `disconnected` nothing, `ended` an `EndReason`, `audio` an
    `AudioFrame`, `message` what the client sent, `dtmf` the keys that were pressed. An async listener gets the next one
    when it is done with the one before; of sound the oldest is dropped when it is slow.
    """

    def __init__(self, port: SessionPort, params: TransportParams) -> None:
        self.type = port.start.transport
        self.session_id = port.start.session_id
        self.audio_in_sample_rate = params.audio_in_sample_rate
        self.audio_out_sample_rate = params.audio_out_sample_rate
        self._port = port
        self._playback = Playback(port, params.audio_out_sample_rate)
        self._hearing = Hearing(port.send_heard)
        self._events = Emitter(port.fail)
        self._rtvi = self._conversation() if params.rtvi else None
        self._connected = False
        self._end_reason: EndReason | None = None
        self._end = Gate()
        self._closing: asyncio.Task[None] | None = None
        port.attach(self)
        port.send_format(params.audio_in_sample_rate, params.audio_out_sample_rate)

    @property
    def connected(self) -> bool:
        """True while the caller's wire is up."""
        return self._connected

    @property
    def end_reason(self) -> EndReason | None:
        """Why the session is over, once it is."""
        return self._end_reason

    @property
    def rtvi(self) -> Rtvi:
        """The RTVI conversation with the client: transcripts, speaking events, requests. Raises with `rtvi=False`."""
        if self._rtvi is not None:
            return self._rtvi
        raise BotError("rtvi_off", 'this transport was made with rtvi=False; use send_message() and on("message")')

    @property
    def played_ms(self) -> float:
        """Milliseconds played since the last clear. Sound that is queued now begins at `played_ms + queued_ms`."""
        return self._playback.played_ms

    @property
    def queued_ms(self) -> float:
        """Milliseconds of sound queued and not yet played."""
        return self._playback.queued_ms

    def audio(self) -> AsyncIterator[AudioFrame]:
        """The caller's sound until the session ends. Old sound is dropped first when the reader is slow."""
        return self._hearing.read()

    async def send_audio(self, audio: AudioData) -> None:
        """Queues sound for the caller, and returns when there is room for more: so a bot that awaits it is about a
        second ahead of the caller's ear. Raises when the session is over, or when far too much was queued."""
        if self._end_reason is not None:
            raise BotError("session_ended", f"no sound can be sent, it is over: {self._end_reason.message}")
        await self._playback.add(audio_bytes(audio))

    def clear(self) -> asyncio.Future[ClearResult]:
        """Drops at once everything not yet played, here and on the way to the caller; await it to know the rest."""
        return self._playback.clear()

    async def drained(self) -> None:
        """Returns when all queued sound was played (or cleared, or the session ended)."""
        await self._playback.drained()

    async def wait_ended(self) -> EndReason:
        """Returns when the session is over."""
        while self._end_reason is None:
            await self._end.wait()
        return self._end_reason

    def send_message(self, message: object) -> None:
        """Sends an application message, any JSON, to the client as it is. Nothing happens once the session is over."""
        spelled = spell_message(message)
        if self._end_reason is not None:
            return
        if self._port.backlog > BACKLOG_LIMIT_BYTES:
            raise BotError("flooded", "messages are sent faster than the caller can take them; send fewer")
        self._port.send_message(spelled)

    def send_dtmf(self, keys: str) -> None:
        """Presses keys towards the caller's side, where the wire can carry them."""
        if not is_keys(keys):
            raise BotError("invalid_keys", f"{keys!r} are not 1 to 64 keys of 0-9, *, #, A-D")
        self._port.send_dtmf(keys)

    def on(self, event: TransportEvent, listener: ListenerT) -> ListenerT:
        """Adds a listener, plain or async. One for `connected` or `ended` that comes late is told at once."""
        if event not in TRANSPORT_EVENTS:
            raise BotError("invalid_params", f"{event!r} is no event; there are {', '.join(TRANSPORT_EVENTS)}")
        if event == "audio":
            self._hearing.on(listener, self._port.fail)
            return listener
        self._events.on(event, listener)
        if event == "ended" and self._end_reason is not None:
            self._events.call_soon(event, listener, self._end_reason)
        elif event == "connected" and self._connected:
            self._events.call_soon(event, listener)
        return listener

    def event(self, event: TransportEvent) -> Callable[[ListenerT], ListenerT]:
        """The same as `on`, as a decorator."""
        return lambda listener: self.on(event, listener)

    def off(self, event: TransportEvent, listener: Listener) -> None:
        """Takes a listener away."""
        if event == "audio":
            self._hearing.off(listener)
        else:
            self._events.off(event, listener)

    async def close(self) -> None:
        """Ends the session once what is queued has been played."""
        await self.drained()
        self._port.finish()

    # What the session calls.

    def message(self, message: HostMessage) -> None:
        if isinstance(message, Message):
            receive = self._pass_on if self._rtvi is None else self._rtvi.receive
            receive(message.data)
        elif isinstance(message, Dtmf):
            self._events.emit("dtmf", message.keys)
        elif isinstance(message, Cleared):
            self._playback.cleared(message.epoch, message.played_samples)
        elif isinstance(message, (Connected, Disconnected)):
            self._connected = isinstance(message, Connected)
            self._events.emit("connected" if self._connected else "disconnected")

    def audio_in(self, captured_at: int, audio: bytes) -> None:
        self._hearing.add(AudioFrame(audio, self.audio_in_sample_rate, captured_at))

    def playback(self, epoch: int, played: int, limit: int) -> None:
        self._playback.progress(epoch, played, limit)

    def ended(self, reason: EndReason) -> None:
        self._end_reason = reason
        self._connected = False
        self._playback.end()
        self._hearing.end()
        self._events.emit("ended", reason)
        self._end.open()

    def _conversation(self) -> Rtvi:
        return Rtvi(
            send=self.send_message,
            pass_on=self._pass_on,
            keys=lambda keys: self._events.emit("dtmf", keys),
            disconnect=self._disconnect,
            fail=self._port.fail,
        )

    def _disconnect(self) -> None:
        self._closing = asyncio.ensure_future(self.close())

    def _pass_on(self, message: object) -> bool:
        self._events.emit("message", message)
        return self._events.has("message")
