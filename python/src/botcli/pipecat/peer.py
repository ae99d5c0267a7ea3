"""The library's peer connection, set up by what the caller says over the link."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any

from aiortc.sdp import candidate_from_sdp
from pipecat.transports.smallwebrtc.connection import IceServer, SmallWebRTCConnection

from ..errors import BotError
from ..link.host_messages import Candidates, IceCandidate, Offer
from ..passed_peer import PassedPeer

#: The library's own variable for servers that help to find a way.
ICE_SERVERS = "PIPECAT_ICE_SERVERS"
#: A bot that has left the connection itself has so long to return before that counts as the caller's doing.
LEAVE_S = 2.0
#: Connections whose signals are followed. The loop itself holds tasks only weakly.
_following: set[asyncio.Task[None]] = set()


async def connect(peer: PassedPeer) -> Any:
    """Answers the first offer that makes sense, and gives the connection that it is for."""
    connection = _Connection(peer)
    await connection.first_answer()
    task = asyncio.create_task(connection.follow(), name="botcli-peer")
    _following.add(task)
    task.add_done_callback(_following.discard)
    return connection.made


class _Connection:
    """One connection, and what the caller says about it."""

    def __init__(self, peer: PassedPeer) -> None:
        self._peer = peer
        self._signals = peer.signals()
        self._early: list[Candidates] = []
        self._told: set[Any] = set()
        self._left = False
        self.made: Any = None

    async def first_answer(self) -> None:
        """Waits for an offer that can be answered."""
        async for signal in self._signals:
            if isinstance(signal, Candidates):
                self._early.append(signal)
            elif await self._answer(signal, self._initialize):
                return
        raise BotError("session_ended", "the session was over before the caller's offer came")

    async def follow(self) -> None:
        """Does what the caller says, until the session is over; then the connection is, too."""
        try:
            for candidates in self._early:
                await self._add(candidates)
            async for signal in self._signals:
                if isinstance(signal, Candidates):
                    await self._add(signal)
                else:
                    await self._answer(signal, self._renegotiate)
        finally:
            self._left = True
            await self.made.disconnect()

    async def _answer(self, offer: Offer, use: Any) -> bool:
        try:
            await use(offer)
            answer = self.made.get_answer()
            if answer is None:
                raise ValueError("the library gave no answer to this offer")
        except Exception as error:
            # Whatever it is, it came from the caller's text. Some of these errors have no words.
            self._peer.refuse(offer, error if str(error) else ValueError(f"it makes no sense ({error!r})"))
            return False
        self._watch()
        self._peer.answer(offer, answer["sdp"], answer["pc_id"])
        return True

    async def _initialize(self, offer: Offer) -> None:
        connection: Any = SmallWebRTCConnection(ice_servers=ice_servers(os.environ.get(ICE_SERVERS)))
        try:
            await connection.initialize(sdp=offer.sdp, type="offer")
            # The library takes text without any media, too, and would wait for nobody.
            if not connection.pc.getTransceivers():
                raise ValueError("the offer has no media")
        except BaseException:
            await connection.disconnect()
            raise
        self.made = connection
        disconnect = connection.disconnect

        async def leave() -> None:
            # The bot hangs up, and is about to return. That is not the caller's doing.
            self._left = True
            await disconnect()

        connection.disconnect = leave
        connection.add_event_handler("disconnected", self._lost)

    async def _renegotiate(self, offer: Offer) -> None:
        await self.made.renegotiate(sdp=offer.sdp, type="offer", restart_pc=offer.restart)

    async def _add(self, candidates: Candidates) -> None:
        for candidate in candidates.candidates:
            try:
                await self.made.add_ice_candidate(_parsed(candidate))
            except Exception:
                # One way to reach the caller that makes no sense; there are others.
                continue

    def _watch(self) -> None:
        """Tells the states of the connection below, which is another one after a restart."""
        pc = self.made.pc
        if pc in self._told:
            return
        self._told = {pc}

        def changed() -> None:
            if pc.connectionState == "connected":
                self._peer.state("connected")
            elif pc.connectionState == "failed":
                self._peer.state("disconnected")
            elif pc.connectionState == "closed":
                self._closed()

        pc.on("connectionstatechange", changed)

    async def _lost(self, connection: object) -> None:
        self._peer.state("disconnected")

    def _closed(self) -> None:
        if self._left:
            asyncio.get_running_loop().call_later(LEAVE_S, self._peer.state, "closed")
        else:
            self._peer.state("closed")


def _parsed(candidate: IceCandidate) -> Any:
    """As the library's request handler does it. No candidate says that there are no more."""
    text = candidate.candidate.removeprefix("candidate:")
    if not text:
        return None
    parsed = candidate_from_sdp(text)
    parsed.sdpMid = candidate.mid
    return parsed


def ice_servers(value: str | None) -> list[IceServer]:
    """The servers of the library's own variable: addresses with commas between them, or JSON."""
    text = (value or "").strip()
    entries = json.loads(text) if text.startswith(("[", "{")) else [part.strip() for part in text.split(",")]
    if isinstance(entries, dict):
        entries = [entries]
    return [IceServer(**entry) if isinstance(entry, dict) else IceServer(urls=entry) for entry in entries if entry]
