"""What a client says in RTVI."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .emitter import Emitter
from .errors import BotError
from .keys import is_keys

#: The version of the RTVI protocol that we speak.
RTVI_VERSION = "2.2.0"
RTVI_LABEL = "rtvi-ai"

#: What the session can carry, as 2.2 clients want to know it.
_CAPABILITIES = {
    "audio_in": True,
    "audio_out": True,
    "video_in": False,
    "screen_in": False,
    "video_out": False,
    "metrics": True,
}
_KNOWN_VERSION = re.compile(r"[12]\.\d+\.\d+")


@dataclass(frozen=True, slots=True)
class TypedText:
    """Text that the user typed (`send-text`)."""

    text: str
    #: Whether the bot should answer now, and not only remember the text.
    run_immediately: bool = True
    #: Whether the answer should be spoken.
    audio_response: bool = True


class RtviRequest:
    """A request of the client (`client-message`) that waits for one answer."""

    def __init__(self, type: str, data: Any, answer: Callable[[str, object], None]) -> None:
        self.type = type
        self.data = data
        self._answer: Callable[[str, object], None] | None = answer

    def respond(self, data: object) -> None:
        """Gives the client what it wanted."""
        self._once("server-response", {"t": self.type, "d": data})

    def fail(self, message: str) -> None:
        """Tells the client that this cannot be done."""
        self._once("error-response", {"error": message})

    def _once(self, type: str, data: object) -> None:
        answer, self._answer = self._answer, None
        if answer is None:
            raise BotError("already_answered", f"the request '{self.type}' was answered already")
        answer(type, data)


@dataclass(slots=True)
class ClientFacts:
    """What is known of the client."""

    version: str | None = None
    ready: bool = False

    @property
    def major(self) -> int:
        """A client that has not said its version is taken for a new one."""
        return 1 if self.version is not None and self.version.startswith("1.") else 2


@dataclass(frozen=True, slots=True)
class RtviInbox:
    """Sorts the messages of a client: answers its handshake, and calls who listens."""

    events: Emitter
    client: ClientFacts
    #: Sends a message of a type, with data, under an id.
    send: Callable[[str, object, str], None]
    #: Gives a message to the bot as it is; false when nobody wants it.
    pass_on: Callable[[object], bool]
    keys: Callable[[str], None]
    #: The client wants the bot to stop.
    disconnect: Callable[[], None]

    def receive(self, message: object) -> None:
        """Takes one message."""
        if not isinstance(message, dict) or message.get("label") != RTVI_LABEL:
            self.pass_on(message)
            return
        type, id = message.get("type"), message.get("id")
        if not isinstance(type, str) or not isinstance(id, str):
            text = "an RTVI message needs a type and an id, both text"
            self.send("error", {"error": text, "message": text, "fatal": False}, uuid.uuid4().hex[:8])
            return
        data = message.get("data")
        if type == "client-ready":
            self._on_ready(data, id)
        elif type == "client-message" and self.events.has("request"):
            self._on_request(data, id)
        elif type == "send-text" and self.events.has("text"):
            self._on_text(data, id)
        elif type == "dtmf":
            self._on_keys(data, id)
        elif type == "disconnect-bot":
            self.disconnect()
        elif not self.pass_on(message):
            self._refuse(id, f"the bot does not handle '{type}'")

    def _on_ready(self, data: object, id: str) -> None:
        said = data.get("version") if isinstance(data, dict) else None
        version = said if isinstance(said, str) else None
        known = version is not None and _KNOWN_VERSION.fullmatch(version) is not None
        if not known:
            self._refuse(id, f"RTVI {version or 'without a version'} is not known here; 1.x and {RTVI_VERSION} are")
        self.client.version = version
        # A client of version 1 takes a bot of version 2 for a stranger, so it is told its own.
        answered = version if known and self.client.major == 1 else RTVI_VERSION
        about = {"library": "botcli"}
        self.send("bot-ready", {"version": answered, "about": about, "capabilities": _CAPABILITIES}, id)
        if not self.client.ready:
            self.client.ready = True
            self.events.emit("ready")

    def _on_request(self, data: object, id: str) -> None:
        type = data.get("t") if isinstance(data, dict) else None
        if not isinstance(data, dict) or not isinstance(type, str):
            self._refuse(id, "a client-message needs its type as text in `t`")
            return
        request = RtviRequest(type, data.get("d"), lambda type, data: self.send(type, data, id))
        self.events.emit("request", request)

    def _on_text(self, data: object, id: str) -> None:
        content = data.get("content") if isinstance(data, dict) else None
        options = (data.get("options") if isinstance(data, dict) else None) or {}
        if not isinstance(content, str) or not isinstance(options, dict):
            self._refuse(id, "send-text needs text in `content`")
            return
        run_immediately = options.get("run_immediately") is not False
        audio_response = options.get("audio_response") is not False
        self.events.emit("text", TypedText(content, run_immediately, audio_response))

    def _on_keys(self, data: object, id: str) -> None:
        """Version 2.0 sends one `button`, later ones `buttons`."""
        buttons = (data.get("buttons") or [data.get("button")]) if isinstance(data, dict) else None
        keys = "".join(map(str, buttons)) if isinstance(buttons, list) else ""
        if is_keys(keys):
            self.keys(keys)
        else:
            self._refuse(id, "dtmf needs keys in `buttons`: 0-9, *, #, A-D")

    def _refuse(self, id: str, error: str) -> None:
        self.send("error-response", {"error": error}, id)
