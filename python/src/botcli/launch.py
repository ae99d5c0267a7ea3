"""`python bot.py` starts the runner."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from .errors import BotError


def main() -> NoReturn:
    """Runs this file with the runner: put it below `if __name__ == "__main__":`. Options are the runner's own."""
    script = sys.modules["__main__"]
    spec = getattr(script, "__spec__", None)
    if spec is not None and spec.name.startswith("botcli.guest"):
        # The runner would start itself, for ever.
        text = 'the bot file calls main() when it is imported; put `if __name__ == "__main__":` before it'
        raise BotError("bot_not_found", text)
    path = Path(getattr(script, "__file__", None) or sys.argv[0]).resolve()
    command = runner_command(path, sys.argv[1:], os.environ)
    if "node_modules" in Path(command[0]).parts:
        # What it tells its user to type has to work, too.
        os.environ.setdefault("BOTCLI_COMMAND", "npx botcli")
    sys.stdout.flush()
    sys.stderr.flush()
    os.execv(command[0], command)


def runner_command(bot: Path, options: Sequence[str], env: Mapping[str, str]) -> list[str]:
    """The command that runs a bot: with the interpreter that runs this, unless another one is asked for."""
    runner = find_runner(bot.parent, env)
    python = [] if any(option.split("=")[0] == "--python" for option in options) else ["--python", sys.executable]
    return [runner, "run", str(bot), *python, *options]


def find_runner(folder: Path, env: Mapping[str, str]) -> str:
    """Where `botcli` is: what BOTCLI_BIN says, in a node_modules of this folder or above it, or on the PATH."""
    told = env.get("BOTCLI_BIN")
    if told:
        if _runs(Path(told)):
            return told
        raise SystemExit(f"BOTCLI_BIN is {told}, which is not a program. Set it to the path of botcli, or unset it.")
    for start in (folder, Path.cwd()):
        for place in (start, *start.parents):
            candidate = place / "node_modules" / ".bin" / "botcli"
            if _runs(candidate):
                return str(candidate)
    found = shutil.which("botcli", path=env.get("PATH"))
    if found is not None:
        return found
    raise SystemExit(
        "botcli, which runs this bot, was not found: not in a node_modules folder here or above, and not on the PATH. "
        "Install it with `npm install botcli`, or set BOTCLI_BIN to its path."
    )


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
