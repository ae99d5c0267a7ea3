"""A transport to try things on."""

from __future__ import annotations

from typing import Any

from botcli import Transport, TransportParams, create_transport

from .host import Host
from .session import SessionTest

RATE = 16_000
#: 20 ms.
FRAME = bytes(640)


def params() -> TransportParams:
    return TransportParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE)


class TransportSession(SessionTest):
    """A test that has a transport."""

    async def transport(self, **start: Any) -> tuple[Host, Transport]:
        """A session whose bot does nothing but wait."""
        made: list[Transport] = []

        async def bot(args: Any) -> None:
            made.append(await create_transport(args, {"webrtc": params}))
            await made[0].wait_ended()

        host, self.the_guest = await self.run_bot(bot, **start)
        await host.message("format")
        return host, made[0]
