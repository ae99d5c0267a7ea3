"""Gives back to the caller whatever the caller sends: sound, keys, messages and typed text."""

import time

from botcli import TRANSPORT_IDS, RtviRequest, RunnerArguments, TransportParams, TypedText, create_transport, main


def params() -> TransportParams:
    """The same rate both ways, so that sound goes back as it came."""
    return TransportParams(audio_in_sample_rate=16_000, audio_out_sample_rate=16_000)


async def bot(args: RunnerArguments) -> None:
    transport = await create_transport(args, {transport: params for transport in TRANSPORT_IDS})

    transport.on("dtmf", transport.send_dtmf)
    transport.on("message", transport.send_message)

    @transport.rtvi.on_request
    def on_request(request: RtviRequest) -> None:
        request.respond(request.data)

    @transport.rtvi.on_text
    def on_text(typed: TypedText) -> None:
        transport.rtvi.user_input(typed.text)
        transport.rtvi.bot_output(typed.text, spoken=False)

    # After a hiccup all sound would stay late, so some of it is left out until it is prompt again. A client may send
    # its sound in long chunks; that makes a long queue, but no sound of it is late.
    start: float | None = None
    late = False
    async for frame in transport.audio():
        now = time.monotonic() * 1000
        if start is None:
            start = now - frame.captured_at
        late_ms = now - start + transport.queued_ms - frame.captured_at
        late = late_ms > (60 if late else 200)
        if not late:
            await transport.send_audio(frame.audio)


if __name__ == "__main__":
    main()
