"""Plays the room provider to the call functions of a generated bot.

Reads `{"folder", "body", "answers", "events"}`: what `start_dialout` answers with, one after the other, and the events of the
room; or `{"folder", "call"}` to have a call put through. Writes whom the bot called, and how often it had ended the call
after each event.
"""

import asyncio
import json
import sys
from pathlib import Path

from construct import StandIns


class Room:
    """Keeps the handlers, and answers each attempt by the script."""

    def __init__(self, answers: list) -> None:
        self.handlers: dict = {}
        self.answers = answers
        self.dialled: list = []

    def event_handler(self, name: str):
        def keep(handler):
            self.handlers[name] = handler
            return handler

        return keep

    async def start_dialout(self, target):
        self.dialled.append(target)
        return "session", self.answers.pop(0) if self.answers else None


class Runner:
    cancelled = 0

    async def cancel(self) -> None:
        self.cancelled += 1


def load(folder: Path) -> dict:
    sys.path.insert(0, str(folder))
    space: dict = {"__name__": "bot", "__file__": str(folder / "bot.py")}
    exec(compile((folder / "bot.py").read_text(), "bot.py", "exec"), space)
    return space


async def main() -> None:
    sys.meta_path.append(StandIns())
    task = json.load(sys.stdin)
    bot = load(Path(task["folder"]))
    if "call" in task:
        await bot["forward_call"](*task["call"])
        json.dump({}, sys.stdout)
        return
    bot["ATTEMPT_PAUSE"] = 0
    room, runner = Room(task["answers"]), Runner()
    bot["dial_out"](room, bot["dialout_target"](task["body"]), runner)
    cancelled = []
    for event in task["events"]:
        await room.handlers[event](room, {})
        cancelled.append(runner.cancelled)
    json.dump({"dialled": room.dialled, "cancelled": cancelled}, sys.stdout)


asyncio.run(main())
