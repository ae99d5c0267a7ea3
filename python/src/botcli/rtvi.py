"""The RTVI conversation with the client."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from .emitter import Emitter
from .listener_calls import Listener
from .rtvi_inbox import RTVI_LABEL, ClientFacts, RtviInbox

ListenerT = TypeVar("ListenerT", bound=Listener)


class Rtvi:
    """What the user and the bot say, as events that every published client shows. The `on_` methods are decorators,
    too; listeners may be async, and get one event at a time."""

    def __init__(
        self,
        *,
        send: Callable[[object], None],
        pass_on: Callable[[object], bool],
        keys: Callable[[str], None],
        disconnect: Callable[[], None],
        fail: Callable[[BaseException], None],
    ) -> None:
        self._send = send
        self._events = Emitter(fail)
        self._client = ClientFacts()
        self._segments = 0
        self._inbox = RtviInbox(
            events=self._events,
            client=self._client,
            send=self._message,
            pass_on=pass_on,
            keys=keys,
            disconnect=disconnect,
        )

    @property
    def client_version(self) -> str | None:
        """The client's version of RTVI, once it said that it is ready."""
        return self._client.version

    def on_client_ready(self, listener: ListenerT) -> ListenerT:
        """Calls back once the client is ready and was told that the bot is; at once if that is so already."""
        if self._client.ready:
            self._events.call(listener)
        else:
            self._events.on("ready", listener)
        return listener

    def on_text(self, listener: ListenerT) -> ListenerT:
        """Calls back with each `TypedText` of the user."""
        self._events.on("text", listener)
        return listener

    def on_request(self, listener: ListenerT) -> ListenerT:
        """Calls back with each `RtviRequest` of the client."""
        self._events.on("request", listener)
        return listener

    def user_started_speaking(self) -> None:
        """The user speaks."""
        self.send("user-started-speaking")

    def user_stopped_speaking(self) -> None:
        """The user has spoken."""
        self.send("user-stopped-speaking")

    def bot_started_speaking(self) -> None:
        """The bot speaks."""
        self.send("bot-started-speaking")

    def bot_stopped_speaking(self) -> None:
        """The bot has spoken."""
        self.send("bot-stopped-speaking")

    def bot_interrupted(self) -> None:
        """The user spoke over the bot, which fell silent."""
        self.send("bot-interrupted")

    def user_transcription(self, text: str, *, final: bool = True) -> None:
        """What the user said. An interim text is replaced by the next one."""
        self.send("user-transcription", {"text": text, "final": final, "timestamp": _now(), "user_id": ""})

    def user_input(self, text: str) -> None:
        """Confirms text that the user typed, for clients that show it."""
        if self._client.major >= 2:
            self.send("user-input", {"text": text, "input_type": "chat", "final": True, "timestamp": _now()})

    def bot_output(self, text: str, *, spoken: bool = True) -> None:
        """What the bot says, a sentence at a time. Without `spoken` it is only shown."""
        self._segments += 1
        # Each version reads its own fields: `spoken` is 1.x, the three types are one value under its successive names.
        data = {
            "text": text,
            "output_type": "sentence",
            "text_type": "sentence",
            "aggregated_by": "sentence",
            "segment_id": self._segments,
            "spoken": spoken,
            "will_be_spoken": spoken,
            "spoken_status": "completed" if spoken else "new",
        }
        self.send("bot-output", data)
        if spoken and self._client.major < 2:
            self.send("bot-transcription", {"text": text})

    def server_message(self, data: object) -> None:
        """Anything, for the client's own code."""
        self.send("server-message", data)

    def error(self, message: str, *, fatal: bool = False) -> None:
        """Something went wrong."""
        # Old and new clients disagree on where the text is.
        self.send("error", {"error": message, "message": message, "fatal": fatal})

    def send(self, type: str, data: object = None) -> None:
        """Sends any other RTVI message; without data when it is None."""
        self._message(type, data, uuid.uuid4().hex[:8])

    def receive(self, message: object) -> None:
        """Takes one message of the client."""
        self._inbox.receive(message)

    def _message(self, type: str, data: object, id: str) -> None:
        message: dict[str, Any] = {"label": RTVI_LABEL, "type": type, "id": id}
        if data is not None:
            message["data"] = data
        self._send(message)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
