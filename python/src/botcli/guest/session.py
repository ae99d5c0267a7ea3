"""One caller's session inside of a guest."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from ..arguments import arguments_of
from ..errors import BotError
from ..foreign import foreign_arguments
from ..http_response import RequestHandler
from ..link.bot_start import BotStart
from ..link.frames import LinkProtocolError
from ..link.host_messages import Candidates, Connected, Disconnected, HostMessage, Offer, Request, SocketClosed
from ..link.port import LinkPort
from ..outgoing_response import SpelledResponse
from ..passed_peer import PassedPeer, PeerState
from ..passed_socket import PassedSocket
from ..session_port import SessionReceiver, register_session
from ..transport_types import EndReason
from .link_error import link_error
from .request_tasks import RequestTasks

#: Messages that are kept for a bot that has not made its transport yet.
EARLY_LIMIT = 256


class GuestSession:
    """Stands between the link and the transport that the bot makes, or does not make."""

    def __init__(
        self,
        start: BotStart,
        port: LinkPort,
        *,
        foreign: bool,
        fail: Callable[[BaseException], None],
        finish: Callable[[], None],
    ) -> None:
        self.start = start
        self._port = port
        self._foreign = foreign
        self._fail = fail
        self._finish = finish
        #: A list until the transport has been given what came before it.
        self._early: list[HostMessage] | None = []
        self._warned = False
        self._receiver: SessionReceiver | None = None
        self._requests: RequestTasks | None = None
        self._end_reason: EndReason | None = None
        passed = start.pass_through
        self._socket = PassedSocket(self) if passed and start.websocket is not None else None
        self._peer = PassedPeer(self) if passed and start.transport == "webrtc" else None

    async def arguments(self) -> object:
        """What the bot is called with."""
        args: object = arguments_of(self.start)
        if self._foreign:
            args = await foreign_arguments(self)
        register_session(args, self)
        return args

    @property
    def socket(self) -> PassedSocket | None:
        """The caller's socket, where it is passed through."""
        return self._socket

    @property
    def peer(self) -> PassedPeer | None:
        """The caller's side of a peer connection, where it is passed through."""
        return self._peer

    @property
    def end_reason(self) -> EndReason | None:
        """Why the session is over, once it is."""
        return self._end_reason

    @property
    def attached(self) -> bool:
        """True once a transport was made."""
        return self._receiver is not None

    @property
    def backlog(self) -> int:
        """Bytes that the host has not taken yet."""
        return self._port.backlog

    def attach(self, receiver: SessionReceiver) -> None:
        """Makes this the transport of the session."""
        self._receiver = receiver
        # The bot sets its listeners right after it got its transport, which is before this.
        asyncio.get_running_loop().call_soon(self._deliver_early)

    def serve(self, handler: RequestHandler) -> None:
        """Lets the bot answer requests."""
        if self._end_reason is not None:
            text = f"no requests can be served, the session is over: {self._end_reason.message}"
            raise BotError("session_ended", text)
        if self._requests is not None:
            raise BotError("already_serving", "serve() was called twice; a session has one handler, for all its paths")
        self._requests = RequestTasks(handler, self)
        self._send("serving")

    def send_response(self, id: int, response: SpelledResponse) -> None:
        """Answers a request."""
        self._send("response", id=id, response=response)

    def refuse_request(self, id: int, error: BaseException) -> None:
        """Says that the bot failed to answer a request. Where it did so is for the log alone."""
        described = link_error(error)
        self._send("response", id=id, error={"name": described["name"], "message": described["message"]})

    def send_format(self, input_rate: int, output_rate: int) -> None:
        """Says the rates of the transport."""
        self._send("format", inputRate=input_rate, outputRate=output_rate)

    def send_message(self, spelled: bytes) -> None:
        """Sends an application message that is JSON already."""
        if self._end_reason is None:
            self._port.send_message(spelled)

    def send_dtmf(self, keys: str) -> None:
        """Sends keys."""
        self._send("dtmf", keys=keys)

    def send_clear(self, epoch: int) -> None:
        """Begins an epoch."""
        self._send("clear", epoch=epoch)

    def send_audio_out(self, epoch: int, audio: bytes | memoryview) -> None:
        """Sends sound."""
        if self._end_reason is None:
            self._port.send_audio_out(epoch, audio)

    def send_heard(self, frames: int) -> None:
        """Confirms sound, or messages of a socket."""
        if self._end_reason is None:
            self._port.send_heard(frames)

    def send_socket(self, data: str | bytes) -> None:
        """Sends a message of the caller's socket."""
        if self._end_reason is None:
            self._port.send_socket(data)

    def send_socket_close(self, code: int, reason: str) -> None:
        """Closes the caller's socket."""
        self._send("socket-close", code=code, reason=reason)

    def send_answer(self, id: int, sdp: str, pc_id: str) -> None:
        """Answers an offer."""
        self._send("answer", id=id, sdp=sdp, pcId=pc_id)

    def refuse_offer(self, id: int, error: Exception) -> None:
        """Answers an offer that makes no sense."""
        self._send("answer", id=id, error=link_error(error))

    def send_peer(self, state: PeerState) -> None:
        """Tells how the bot's peer connection is."""
        self._send("peer", state=state)

    def fail(self, error: BaseException) -> None:
        """The bot is broken, as if it had raised."""
        self._fail(error)

    def finish(self) -> None:
        """The bot wants the session to be over."""
        self._finish()

    def message(self, message: HostMessage) -> None:
        """A message of the host for the bot."""
        if self._end_reason is not None:
            return
        if isinstance(message, (Offer, Candidates)):
            if self._peer is not None:
                self._peer.signal(message)
        elif isinstance(message, SocketClosed):
            if self._socket is not None:
                self._socket.caller_left(message.code, message.reason)
        elif isinstance(message, Request):
            if self._requests is None:
                raise LinkProtocolError("the host sent a request to a bot that serves none")
            self._requests.add(message.id, message.request)
        elif self._early is None:
            self._deliver(message)
        elif len(self._early) < EARLY_LIMIT or isinstance(message, (Connected, Disconnected)):
            self._early.append(message)
        else:
            self._warn_of_loss()

    def audio_in(self, captured_at: int, audio: bytes) -> None:
        """Sound of the caller; none comes before the transport is there."""
        if self._end_reason is None and self._receiver is not None:
            self._receiver.audio_in(captured_at, audio)

    def playback(self, epoch: int, played: int, limit: int) -> None:
        """The host played something, or grants more."""
        if self._end_reason is None and self._receiver is not None:
            self._receiver.playback(epoch, played, limit)

    def socket_message(self, data: str | bytes) -> None:
        """A message of the caller's socket."""
        if self._end_reason is None and self._socket is not None:
            self._socket.message(data)

    def socket_heard(self, count: int) -> None:
        """The caller's socket has taken so many messages of the bot."""
        if self._socket is not None:
            self._socket.heard(count)

    def end(self, reason: EndReason) -> None:
        """The session is over. The first reason stays."""
        if self._end_reason is not None:
            return
        self._deliver_early()
        self._end_reason = reason
        if self._requests is not None:
            self._requests.cancel()
        if self._socket is not None:
            self._socket.ended(reason)
        if self._peer is not None:
            self._peer.ended()
        if self._receiver is not None:
            self._receiver.ended(reason)

    async def drained(self) -> None:
        """Returns when the caller has heard everything."""
        if self._receiver is not None:
            await self._receiver.drained()

    async def quiet(self, limit_s: float) -> None:
        """Returns when no request is worked on any more, or one does not stop."""
        if self._requests is not None:
            await self._requests.stopped(limit_s)

    def _send(self, type: str, **fields: object) -> None:
        if self._end_reason is None:
            self._port.send(type, **fields)

    def _warn_of_loss(self) -> None:
        if self._warned:
            return
        self._warned = True
        print(
            f"the client sent more than {EARLY_LIMIT} messages before the bot made its transport; "
            "the later ones are lost. Call create_transport() earlier",
            file=sys.stderr,
        )

    def _deliver_early(self) -> None:
        if self._receiver is None or self._early is None:
            return
        early, self._early = self._early, None
        for message in early:
            self._deliver(message)

    def _deliver(self, message: HostMessage) -> None:
        """What the transport raises is the bot's doing, and must not reach the link."""
        try:
            if self._receiver is not None:
                self._receiver.message(message)
        except Exception as error:
            self.fail(error)
