"""The names of all transports."""

from __future__ import annotations

from typing import Literal, get_args

CarrierId = Literal["telephony_a", "telephony_b", "telephony_c", "telephony_d"]
TransportId = Literal["webrtc", "room", "telephony_a", "telephony_b", "telephony_c", "telephony_d", "websocket"]

#: What a session may have instead: the harness of an evaluation.
SessionTransport = TransportId | Literal["eval"]

#: Every way in which a caller can reach a bot.
TRANSPORT_IDS: tuple[TransportId, ...] = get_args(TransportId)
