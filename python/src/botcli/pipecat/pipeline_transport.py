"""A transport for pipelines, over the link."""

from __future__ import annotations

from typing import Any

from pipecat.processors.frame_processor import FrameProcessor
from pipecat.transports.base_transport import BaseTransport, TransportParams

from ..errors import BotError
from ..session_port import SessionPort
from ..transport_ids import SessionTransport
from ..transport_types import EndReason
from .pipeline_input import PipelineInput
from .pipeline_link import PipelineLink
from .pipeline_output import PipelineOutput

#: Events that bots listen to. The last one never comes: it is for bots that share their code with other transports.
EVENTS = ("on_client_connected", "on_client_disconnected", "on_app_message", "on_session_timeout")
#: What is better here than the library's own defaults, which are made for wires without a true position.
_DEFAULTS: dict[str, Any] = {
    # Steps of 20 ms: half the delay of the library's own.
    "audio_out_10ms_chunks": 2,
    # The end is known to be heard.
    "audio_out_end_silence_secs": 0,
    # Whether the caller is there is for the host to say, and it may be a moment before one is.
    "audio_out_write_timeout_secs": 3600.0,
}


def make_pipeline_transport(session: SessionPort, params: object) -> PipelineTransport | None:
    """The transport of a session, or None when these are not the library's parameters."""
    return PipelineTransport(session, params) if isinstance(params, TransportParams) else None


class PipelineTransport(BaseTransport):
    """One caller, whatever the wire: `input()` at the front of a pipeline, `output()` where the caller hears it.

    Events: `on_client_connected` and `on_client_disconnected` with the transport and the client, `on_app_message` with
    the transport, the message and the client's id.
    """

    def __init__(self, session: SessionPort, params: TransportParams) -> None:
        super().__init__()
        for name in ("audio_in_channels", "audio_out_channels"):
            if getattr(params, name) != 1:
                raise BotError("invalid_params", f"{name} is {getattr(params, name)}; sound has one channel here")
        start = session.start
        #: Whom handlers are told about.
        self._client = start.webrtc or start.websocket
        self._session_id = start.session_id
        self._type = start.transport
        self._link = PipelineLink(session)
        better = {
            name: value
            for name, value in _DEFAULTS.items()
            if name in type(params).model_fields and name not in params.model_fields_set
        }
        params = params.model_copy(update=better)
        self._input = PipelineInput(self._link, params, self._tell)
        self._output = PipelineOutput(self._link, params)
        for event in EVENTS:
            self._register_event_handler(event)

    @property
    def type(self) -> SessionTransport:
        """How the caller reached the bot."""
        return self._type

    @property
    def session_id(self) -> str:
        """The one id of this session."""
        return self._session_id

    @property
    def end_reason(self) -> EndReason | None:
        """Why the session is over, once it is."""
        return self._link.end_reason

    @property
    def played_ms(self) -> float:
        """Milliseconds that the caller was played since the last interruption."""
        return 0 if self._link.sound is None else self._link.sound.played_ms

    @property
    def queued_ms(self) -> float:
        """Milliseconds of sound that have left the pipeline and were not played yet."""
        return 0 if self._link.sound is None else self._link.sound.queued_ms

    def input(self) -> FrameProcessor:
        """What the caller says."""
        return self._input

    def output(self) -> FrameProcessor:
        """What the caller hears."""
        return self._output

    def get_client_id(self, client: Any) -> str:
        """The id of a client."""
        return self._session_id

    async def _tell(self, event: str, *facts: object) -> None:
        if event == "on_app_message":
            await self._call_event_handler(event, *facts, self._session_id)
        else:
            await self._call_event_handler(event, self._client)
