import type { Configuration } from '../configuration.ts'
import { pythonString } from './python/expression.ts'
import type { Imports } from './python/imports.ts'
import type { Traits } from './traits.ts'

/** Writes what was heard and said while the call goes on, so that a long one does not fill the memory. */
export function recordingHelpers(imports: Imports): string {
  imports.from('datetime', 'datetime').from('pathlib', 'Path').module('wave')
  return `class Recording:
    """A WAV file that grows during a call: the caller on the left, the bot on the right."""

    def __init__(self, session_id: str) -> None:
        started = datetime.now().strftime("%Y%m%d-%H%M%S")
        self._path = RECORDINGS / f"{started}-{session_id}.wav"
        self._file: wave.Wave_write | None = None

    def write(self, audio: bytes, sample_rate: int, num_channels: int) -> None:
        """Adds the next piece. The file is complete after each."""
        if self._file is None:
            self._path.parent.mkdir(exist_ok=True)
            self._file = wave.open(str(self._path), "wb")
            self._file.setnchannels(num_channels)
            self._file.setsampwidth(2)
            self._file.setframerate(sample_rate)
        self._file.writeframes(audio)
`
}

/** Hands each piece to the file. */
export function recordingHandler({ libraryWires }: Traits): string {
  // The library does not always have one.
  const session = libraryWires ? 'args.session_id or "call"' : 'args.session_id'
  return `    recording = Recording(${session})

    @audio_buffer.event_handler("on_audio_data")
    async def on_audio_data(buffer, audio: bytes, sample_rate: int, num_channels: int):
        if audio:
            recording.write(audio, sample_rate, num_channels)
`
}

/** Sends traces to a collector, where there is one. */
export function tracesHelper({ names }: Configuration, imports: Imports): string {
  imports
    .from('opentelemetry', 'trace')
    .from('opentelemetry.exporter.otlp.proto.http.trace_exporter', 'OTLPSpanExporter')
    .from('opentelemetry.sdk.resources', 'Resource')
    .from('opentelemetry.sdk.trace', 'TracerProvider')
    .from('opentelemetry.sdk.trace.export', 'BatchSpanProcessor')
    .from('settings', 'optional')
  return `def start_traces() -> TracerProvider | None:
    """Sends traces of the conversation to a collector; without its address there are none."""
    if optional("OTEL_EXPORTER_OTLP_ENDPOINT") is None:
        return None
    provider = TracerProvider(resource=Resource.create({"service.name": ${pythonString(names.agent)}}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider
`
}

/** Lets a language model look through the camera; those that hear and speak by themselves see it all the time. */
export function lookTool(imports: Imports): string {
  imports
    .from('pipecat.adapters.llm.schemas.direct_function', 'tool_options')
    .from('pipecat.frames.frames', 'UserImageRequestFrame')
    .from('pipecat.processors.frame_processor', 'FrameDirection')
    .from('pipecat.services.llm_service', 'FunctionCallParams')
  return `    caller_id = ""

    @tool_options(timeout_secs=10)
    async def look(params: FunctionCallParams, question: str):
        """Takes a picture with the camera of the caller.

        Args:
            question: What you want to know from the picture.
        """
        request = UserImageRequestFrame(
            user_id=caller_id,
            text=question,
            append_to_context=True,
            function_name=params.function_name,
            tool_call_id=params.tool_call_id,
            result_callback=params.result_callback,
        )
        await params.llm.push_frame(request, FrameDirection.UPSTREAM)
`
}
