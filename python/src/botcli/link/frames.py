"""The frames of the link."""

from __future__ import annotations

import struct
from typing import Final

#: Peers of another number cannot talk to each other.
LINK_VERSION: Final = 1

CONTROL: Final = 1
AUDIO_IN: Final = 2
AUDIO_OUT: Final = 3
PLAYBACK: Final = 4
HEARD: Final = 5
SOCKET_TEXT: Final = 6
SOCKET_BINARY: Final = 7

#: The kind, and the payload's length.
HEADER: Final = struct.Struct(">BI")
HEADER_BYTES: Final = HEADER.size
#: The epoch, samples of it that were played, samples of it that may be sent in all.
POSITION: Final = struct.Struct(">III")
#: What a heard frame says.
COUNT: Final = struct.Struct(">I")
#: The number before the samples of an audio frame.
TAG: Final = struct.Struct(">I")
#: A peer that announces a longer payload is broken or hostile.
MAX_PAYLOAD_BYTES: Final = 1024 * 1024

_TAGGED = struct.Struct(">BII")


class LinkProtocolError(Exception):
    """The peer did not speak the link protocol."""


def encode_control(payload: bytes) -> bytes:
    """A control message that is spelled as JSON already."""
    return HEADER.pack(CONTROL, len(payload)) + payload


def encode_audio_out(epoch: int, audio: bytes | memoryview) -> bytes:
    """Sound on its way to the caller."""
    return b"".join((_TAGGED.pack(AUDIO_OUT, TAG.size + len(audio), epoch), audio))


def encode_socket(data: str | bytes) -> bytes:
    """A message of the caller's socket, as the bot gave it."""
    payload = data.encode() if isinstance(data, str) else data
    return HEADER.pack(SOCKET_TEXT if isinstance(data, str) else SOCKET_BINARY, len(payload)) + payload


def encode_heard(frames: int) -> bytes:
    """How many audio frames, or messages of a socket, the guest has taken in."""
    return _TAGGED.pack(HEARD, COUNT.size, frames)
