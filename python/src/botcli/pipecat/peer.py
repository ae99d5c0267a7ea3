"""The library's peer connection, set up by what the caller says over the link."""

from __future__ import annotations

import asyncio
import json
import os
import re
from typing import Any

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.sdp import SessionDescription, candidate_from_sdp
from OpenSSL import SSL
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
            _check_media(connection.pc)
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
        # The library closes a connection, or changes half of it, before it looks at what is to take its place.
        await _rehearse(offer.sdp)
        if not offer.restart:
            _check_goes_on(self.made.pc, offer.sdp)
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
        failed = False

        def changed() -> None:
            nonlocal failed
            if pc.connectionState == "connected":
                self._peer.state("connected")
            elif pc.connectionState == "failed":
                # The library closes it now.
                failed = True
                self._peer.state("disconnected")
            elif pc.connectionState == "closed":
                self._closed(lost=failed or not _said_goodbye(pc))

        pc.on("connectionstatechange", changed)

    async def _lost(self, connection: object) -> None:
        self._peer.state("disconnected")

    def _closed(self, *, lost: bool) -> None:
        if self._left:
            asyncio.get_running_loop().call_later(LEAVE_S, self._peer.state, "closed")
        else:
            self._peer.state("lost" if lost else "closed")


def _said_goodbye(pc: Any) -> bool:
    """Whether the caller has closed its end, which DTLS tells. One that vanishes only falls silent."""
    transports = [transceiver.receiver.transport for transceiver in pc.getTransceivers()]
    sessions = [getattr(transport, "_ssl", None) for transport in transports]
    # There is no public way to ask. Where this one is closed, too, everybody counts as polite.
    if not any(isinstance(session, SSL.Connection) for session in sessions):
        return True
    return any(session.get_shutdown() & SSL.RECEIVED_SHUTDOWN for session in sessions if session is not None)


async def _rehearse(sdp: str) -> None:
    """Raises what an offer is going to raise, on a connection that nobody needs."""
    SessionDescription.parse(sdp)
    pc: Any = RTCPeerConnection()
    try:
        # Candidates are only looked at, since to add them may take as long as the network does.
        bare = re.sub(r"(?m)^a=candidate:.*\n?", "", sdp)
        await pc.setRemoteDescription(RTCSessionDescription(sdp=bare, type="offer"))
        _check_media(pc)
        await pc.createAnswer()
    finally:
        await pc.close()


def _check_media(pc: Any) -> None:
    """The library takes text without any media, too, and would wait for nobody."""
    if not pc.getTransceivers():
        raise ValueError("the offer has no media")


def _check_goes_on(pc: Any, sdp: str) -> None:
    """A connection may get more sections, but each of those that it has keeps its place."""
    before, after = (_sections(text) for text in (pc.remoteDescription.sdp, sdp))
    if after[: len(before)] != before:
        raise ValueError("the offer is not for this connection: its sections are others; ask for a restart")


def _sections(sdp: str) -> list[tuple[str, str]]:
    return [(media.kind, media.rtp.muxId) for media in SessionDescription.parse(sdp).media]


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
