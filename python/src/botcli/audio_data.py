"""Sound as a bot gives it."""

from __future__ import annotations

from .errors import BotError
from .transport_types import AudioData

#: How a buffer of bytes, or of 16-bit numbers, describes itself.
_FORMATS = frozenset({"B", "b", "c", "h", "<h"})


def audio_bytes(audio: AudioData) -> bytes:
    """Samples as bytes that nobody can change; a copy only of what could be. Anything else is a clear error."""
    if type(audio) is not bytes:
        audio = _copied(audio)
    if len(audio) % 2 != 0:
        raise BotError("invalid_audio", f"send_audio() takes whole 16-bit samples; {len(audio)} bytes are not")
    return audio


def _copied(audio: AudioData) -> bytes:
    try:
        view = memoryview(audio)
    except TypeError:
        kind = type(audio).__name__
        raise BotError("invalid_audio", f"send_audio() takes bytes: 16-bit samples, mono; not {kind}") from None
    if view.format not in _FORMATS:
        raise BotError(
            "invalid_audio",
            f"send_audio() takes signed 16-bit samples; these have the format {view.format!r}. Convert them first",
        )
    return view.tobytes()
