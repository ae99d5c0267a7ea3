from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support import SOURCE_FOLDER

BOT = """
from botcli import main

async def bot(args): ...

if __name__ == "__main__":
    main()
"""
FAKE = """#!/bin/sh
for word in "$@"; do echo "$word"; done
"""


class LaunchTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name).resolve()
        self.bot = self.root / "project" / "server" / "bot.py"
        self.bot.parent.mkdir(parents=True)
        self.bot.write_text(BOT)

    def program(self, path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FAKE + f"echo from {path}\n")
        path.chmod(0o755)
        return path

    def run_bot(self, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
        base = {"PYTHONPATH": str(SOURCE_FOLDER), "PATH": "/bin:/usr/bin"}
        return subprocess.run(
            [sys.executable, str(self.bot), *options],
            cwd=self.root, env={**base, **env}, capture_output=True, text=True, timeout=30,
        )  # fmt: skip

    def test_runs_the_runner_with_this_file_this_python_and_the_options(self) -> None:
        told = self.program(self.root / "told")
        done = self.run_bot("-t", "webrtc", "--port", "0", BOTCLI_BIN=str(told))
        expected = ["run", str(self.bot), "--python", sys.executable, "-t", "webrtc", "--port", "0", f"from {told}"]
        self.assertEqual(done.stdout.splitlines(), expected)
        done = self.run_bot("--python=/other", BOTCLI_BIN=str(told))
        self.assertEqual(done.stdout.splitlines(), ["run", str(self.bot), "--python=/other", f"from {told}"])

    def test_looks_in_node_modules_above_the_bot_then_on_the_path(self) -> None:
        on_path = self.program(self.root / "bin" / "botcli")
        path = f"{on_path.parent}{os.pathsep}/bin:/usr/bin"
        self.assertIn(f"from {on_path}", self.run_bot(PATH=path).stdout)
        local = self.program(self.root / "project" / "node_modules" / ".bin" / "botcli")
        self.assertIn(f"from {local}", self.run_bot(PATH=path).stdout)

    def test_says_what_to_do_when_it_is_not_there(self) -> None:
        done = self.run_bot()
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "botcli.*was not found.*npm install botcli.*BOTCLI_BIN")
        self.assertNotIn("Traceback", done.stderr)
        done = self.run_bot(BOTCLI_BIN="/no/such/program")
        self.assertEqual(done.returncode, 1)
        self.assertIn("BOTCLI_BIN is /no/such/program", done.stderr)


if __name__ == "__main__":
    unittest.main()
