"""The caller's side of a peer connection that the bot makes itself."""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import Literal, Protocol

from .gate import Gate
from .link.host_messages import Candidates, Offer

#: A caller that says more than this without an answer is not listened to.
SIGNAL_LIMIT = 256

PeerState = Literal["connected", "disconnected", "closed", "lost"]


class PeerPort(Protocol):
    """The way to the caller."""

    def send_answer(self, id: int, sdp: str, pc_id: str) -> None: ...
    def refuse_offer(self, id: int, error: Exception) -> None: ...
    def send_peer(self, state: PeerState) -> None: ...


class PassedPeer:
    """What the caller says to set up the connection, in its order, and what the bot answers."""

    def __init__(self, port: PeerPort) -> None:
        self._port = port
        self._signals: deque[Offer | Candidates] = deque()
        self._arrival = Gate()
        self._over = False

    async def signals(self) -> AsyncIterator[Offer | Candidates]:
        """Everything that the caller says, until the session is over."""
        while not self._over:
            if self._signals:
                yield self._signals.popleft()
            else:
                await self._arrival.wait()

    def answer(self, offer: Offer, sdp: str, pc_id: str) -> None:
        """Answers an offer."""
        self._port.send_answer(offer.id, sdp, pc_id)

    def refuse(self, offer: Offer, error: Exception) -> None:
        """Says that an offer makes no sense."""
        self._port.refuse_offer(offer.id, error)

    def state(self, state: PeerState) -> None:
        """Tells how the connection is."""
        self._port.send_peer(state)

    # What the session calls.

    def signal(self, signal: Offer | Candidates) -> None:
        """The caller said something."""
        if len(self._signals) < SIGNAL_LIMIT:
            self._signals.append(signal)
            self._arrival.open()

    def ended(self) -> None:
        """The session is over."""
        self._over = True
        self._arrival.open()
