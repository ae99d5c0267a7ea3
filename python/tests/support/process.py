"""A guest in a process of its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from botcli.guest.loop_watch import REPORT_MARK

from . import SOURCE_FOLDER
from .host import Host


def without_reports(stderr: bytes) -> str:
    """What a guest wrote, without the reports of a blocked loop: on a machine that is short of time any may write one."""
    return re.sub(f"^{REPORT_MARK}.*\n", "", stderr.decode(), flags=re.MULTILINE)


class GuestProcess:
    """`python -m botcli.guest` with a link on descriptor 3."""

    def __init__(self, process: asyncio.subprocess.Process, folder: Path) -> None:
        self.process = process
        self.folder = folder
        self.stdout = b""
        self.stderr = b""
        self.over = asyncio.gather(self._read_stdout(), self._read_stderr(), process.wait())

    @classmethod
    async def start(
        cls,
        bot: str,
        *options: str,
        name: str = "bot.py",
        files: dict[str, str] | None = None,
        keep: bool = True,
        detached: bool = False,
    ) -> tuple[GuestProcess, socket.socket]:
        """Starts a process with the text of a bot, and gives the other end of its descriptor 3, open if it is kept. One
        that is detached has a group of its own, as with the runner."""
        folder = Path(tempfile.mkdtemp(prefix="botcli-test-")).resolve()
        for path, text in {name: bot, **(files or {})}.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(textwrap.dedent(text))
        ours, theirs = socket.socketpair()
        if not keep:
            ours.close()
        process = await start_with_fd3(
            theirs.fileno(),
            [sys.executable, "-m", "botcli.guest", *options],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(SOURCE_FOLDER), "BOTCLI_BOT_PATH": str(folder / name)},
            detached=detached,
        )
        theirs.close()
        return cls(process, folder), ours

    async def exit(self) -> tuple[int, str, str]:
        """The exit code and the output, when the process is gone."""
        await asyncio.wait_for(self.over, 30)
        return self.process.returncode or 0, self.stdout.decode(), without_reports(self.stderr)

    def reports(self) -> list[dict[str, Any]]:
        """What the guest reported beside its output."""
        lines = self.stderr.decode().split("\n")
        return [json.loads(line[1:]) for line in lines if line.startswith(REPORT_MARK)]

    async def close(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
        await self.over
        shutil.rmtree(self.folder)

    async def _read_stdout(self) -> None:
        assert self.process.stdout is not None
        while data := await self.process.stdout.read(65536):
            self.stdout += data

    async def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        while data := await self.process.stderr.read(65536):
            self.stderr += data


async def start_with_fd3(
    fd: int, command: list[str], *, cwd: Path, env: dict[str, str], detached: bool = False
) -> asyncio.subprocess.Process:
    """Starts a program with a descriptor where the guest expects it."""

    def move() -> None:
        os.dup2(fd, 3)

    return await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=env,
        preexec_fn=move,
        pass_fds=[3],
        start_new_session=detached,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def started(bot: str, **start: object) -> tuple[GuestProcess, Host]:
    """A process whose session has begun."""
    guest, sock = await GuestProcess.start(bot)
    host = await Host.on(sock)
    await host.message("ready")
    host.start(**start)
    return guest, host


def lives(pid: int) -> bool:
    """Whether a process is there, and not only its corpse."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def kill(pid: int) -> None:
    """Ends a process, if it is there."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
