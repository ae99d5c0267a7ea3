"""An echo that first writes down when it was called, by the clock that all processes of a machine share."""

import os
import time

from botcli import RunnerArguments, TransportParams, create_transport

if os.environ.get("BENCH_IMPORTS") == "pipecat":
    # What a usual bot of that library imports. They are not used: this is about what they cost to have.
    import pipecat.audio.vad.silero
    import pipecat.pipeline.pipeline
    import pipecat.pipeline.worker
    import pipecat.processors.aggregators.llm_response_universal
    import pipecat.services.openai.llm
    import pipecat.services.openai.stt
    import pipecat.services.openai.tts  # noqa: F401


def params() -> TransportParams:
    """The same rate both ways, so that sound goes back as it came."""
    return TransportParams(audio_in_sample_rate=16_000, audio_out_sample_rate=16_000)


async def bot(args: RunnerArguments) -> None:
    called_at = time.monotonic_ns()
    calls = os.environ.get("BENCH_CALLS")
    if calls:
        with open(calls, "a") as file:
            file.write(f"{called_at}\n")

    transport = await create_transport(args, {"webrtc": params, "websocket": params})
    async for frame in transport.audio():
        await transport.send_audio(frame.audio)
