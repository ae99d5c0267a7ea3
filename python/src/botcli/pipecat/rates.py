"""Rates of a pipeline's sound."""

from __future__ import annotations

from typing import Any, NamedTuple

from pipecat.transports.base_transport import TransportParams


class Rates(NamedTuple):
    """Samples a second, in both directions."""

    into: int
    out: int


def rates_of(params: TransportParams, setup: Any, frame: Any) -> Rates:
    """What the parameters say, or else the pipeline: in its setup, before 1.14 in its first frame."""
    source = setup if hasattr(setup, "audio_in_sample_rate") else frame
    return Rates(
        params.audio_in_sample_rate or source.audio_in_sample_rate,
        params.audio_out_sample_rate or source.audio_out_sample_rate,
    )
