from __future__ import annotations

import signal
import sys
import unittest
from typing import Any

from support.host import Host, until
from support.process import GuestProcess, kill, lives, started

ECHO = """
from botcli import TransportParams, create_transport

async def bot(args):
    transport = await create_transport(args, {"webrtc": lambda: TransportParams(audio_out_sample_rate=16000)})
    async for frame in transport.audio():
        await transport.send_audio(frame.audio)
    print("the bot is done")
"""


class GuestProcessTest(unittest.IsolatedAsyncioTestCase):
    async def started(self, bot: str, **start: object) -> tuple[GuestProcess, Host]:
        guest, host = await started(bot, **start)
        self.addAsyncCleanup(guest.close)
        self.addAsyncCleanup(host.close)
        return guest, host

    async def loading(self, bot: str, **options: Any) -> tuple[GuestProcess, Host]:
        guest, sock = await GuestProcess.start(bot, **options)
        host = await Host.on(sock)
        self.addAsyncCleanup(guest.close)
        self.addAsyncCleanup(host.close)
        return guest, host

    async def test_runs_a_bot_over_descriptor_3_and_exits_with_0(self) -> None:
        guest, host = await self.started(ECHO)
        hello = await host.message("hello")
        version = ".".join(map(str, sys.version_info[:3]))
        self.assertEqual(
            hello, {"type": "hello", "version": 1, "runtime": f"python {version}", "pid": guest.process.pid}
        )
        self.assertEqual(await host.message("format"), {"type": "format", "inputRate": 16000, "outputRate": 16000})
        host.playback(0, 0, 16000)
        sound = bytes(range(256)) * 2 + bytes(128)
        await host.settled()
        host.audio_in(0, sound)
        await host.settled()
        self.assertEqual(host.sound, [(0, sound)])
        host.playback(0, 320, 16320)
        host.cancel()
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        await host.close()
        self.assertEqual(await guest.exit(), (0, "the bot is done\n", ""))
        self.assertEqual(host.violations, [])

    async def test_writes_all_of_its_output_and_leaves_what_the_bot_forgot(self) -> None:
        guest, host = await self.started("""
            import asyncio, threading, time

            async def leftover():
                try:
                    await asyncio.sleep(1000)
                finally:
                    print("left over")

            async def bot(args):
                global task
                task = asyncio.create_task(leftover())
                threading.Thread(target=time.sleep, args=(1000,)).start()
                print("x" * 500000, end="end")
                await asyncio.sleep(0)
        """)
        await host.message("end")
        await host.close()
        code, stdout, _ = await guest.exit()
        self.assertEqual(code, 0)
        self.assertEqual(stdout, "x" * 500000 + "endleft over\n")

    async def test_a_line_is_written_at_once(self) -> None:
        guest, sock = await GuestProcess.start("""
            import os

            async def bot(args):
                print("a line\\ud800 é")
                os.write(1, b"written after\\n")
        """)
        host = await Host.on(sock)
        self.addAsyncCleanup(guest.close)
        self.addAsyncCleanup(host.close)
        await host.message("ready")
        host.start()
        await host.message("end")
        await host.close()
        self.assertEqual((await guest.exit())[1], "a line\\ud800 é\nwritten after\n")

    async def test_load_failures_are_told(self) -> None:
        cases = [
            ("def helper(): pass", r"no function named `bot` \(it has helper\)"),
            ("bot = 7", "its `bot` is of type int"),
            ("def bot(args): pass", "`bot` is not async; write `async def bot"),
            ("async def bot(args): yield 1", "must not `yield`"),
            ("async def bot(): pass", "cannot be called with the arguments of a session .too many"),
            ("async def bot(args, more): pass", "cannot be called with .*'more'"),
            ("raise RangeError()", "RangeError"),
            ("import nothing_like_this", r"nothing_like_this'\. The bot runs with "),
            ("async def bot(args:\n  pass", "was never closed"),
            ("import sys; sys.exit(3)", r"sys.exit\(3\)"),
            ("from botcli import main\nmain()", "if __name__"),
        ]
        for bot, message in cases:
            with self.subTest(bot):
                guest, host = await self.loading(bot)
                error = (await host.message("load-failed"))["error"]
                self.assertRegex(error["message"], message)
                self.assertEqual((await guest.exit())[0], 1)

    async def test_what_has_to_be_set_up_is_told_without_a_traceback(self) -> None:
        bot = "from botcli import SetupError\nclass Missing(SetupError): pass\nraise Missing('no key')"
        _, host = await self.loading(bot)
        error = (await host.message("load-failed"))["error"]
        self.assertEqual(error, {"name": "Missing", "message": "no key"})

    async def test_a_load_failure_shows_the_users_lines_only(self) -> None:
        guest, host = await self.loading("import helper", files={"helper.py": "\n\n1 / 0\n"})
        error = (await host.message("load-failed"))["error"]
        self.assertEqual(error["name"], "ZeroDivisionError")
        self.assertNotIn("loader.py", error["stack"])
        self.assertTrue(error["stack"].startswith("Traceback (most recent call last):\n"))
        self.assertIn('helper.py", line 3', error["stack"])
        self.assertTrue(error["stack"].endswith("ZeroDivisionError: division by zero"))
        self.assertEqual((await guest.exit())[0], 1)

    async def test_is_imported_as_a_script_would_be_run(self) -> None:
        guest, host = await self.loading(
            """
            import asyncio, sys
            import helper

            print(__name__, sys.argv[0] == __file__, sys.path[0] == helper.FOLDER, asyncio.run(helper.five()))
            import bot as again
            print(again is sys.modules[__name__])

            async def bot(args): ...
            """,
            files={"helper.py": "import os\nFOLDER = os.path.dirname(__file__)\nasync def five(): return 5\n"},
        )
        await host.message("ready")
        await host.close()
        self.assertEqual(await guest.exit(), (0, "bot True True 5\nTrue\n", ""))

    async def test_ignores_sigint_and_finishes_on_sigterm(self) -> None:
        guest, host = await self.started(ECHO)
        await host.message("format")
        guest.process.send_signal(signal.SIGINT)
        await host.settled()
        guest.process.send_signal(signal.SIGTERM)
        self.assertEqual((await host.message("end"))["outcome"], "returned")
        await host.close()
        self.assertEqual((await guest.exit())[0], 0)

    async def test_exits_when_its_host_is_gone(self) -> None:
        guest, host = await self.started(ECHO)
        await host.message("format")
        await host.close()
        code, stdout, stderr = await guest.exit()
        self.assertEqual((code, stdout), (1, "the bot is done\n"))
        self.assertIn("the link closed before the session was over", stderr)

    async def test_takes_along_what_the_bot_started_when_its_host_is_gone(self) -> None:
        bot = """
            import atexit, subprocess, sys
            from botcli import TransportParams, create_transport

            async def bot(args):
                transport = await create_transport(args, {"webrtc": TransportParams})
                stubborn = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True); time.sleep(1000)"
                programs = [
                    subprocess.Popen(["sleep", "1000"]),
                    subprocess.Popen([sys.executable, "-c", stubborn], stdout=subprocess.PIPE),
                ]
                programs[1].stdout.readline()
                atexit.register(lambda: print("still there:", [one.poll() for one in programs]))
                transport.send_message([one.pid for one in programs])
                await transport.wait_ended()
        """
        guest, sock = await GuestProcess.start(bot, detached=True)
        self.addAsyncCleanup(guest.close)
        host = await Host.on(sock)
        await host.message("ready")
        host.start()
        pids = await until(lambda: host.said[0] if host.said else None)
        for pid in pids:
            self.addCleanup(kill, pid)
        await host.close()
        for pid in pids:
            await until(lambda: not lives(pid) or None, f"the end of {pid}")
        # What the bot does at its exit comes before.
        self.assertEqual((await guest.exit())[1], "still there: [None, None]\n")

    async def test_leaves_what_the_bot_started_to_a_runner_that_is_there(self) -> None:
        bot = """
            import subprocess

            async def bot(args):
                quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
                print(subprocess.Popen(["sleep", "1000"], **quiet).pid)
        """
        guest, sock = await GuestProcess.start(bot, detached=True)
        self.addAsyncCleanup(guest.close)
        host = await Host.on(sock)
        await host.message("ready")
        host.start()
        await host.message("end")
        await host.close()
        code, stdout, _ = await guest.exit()
        self.addCleanup(kill, int(stdout))
        self.assertEqual((code, lives(int(stdout))), (0, True))

    async def test_exits_at_once_when_its_host_goes_while_it_is_spare(self) -> None:
        guest, host = await self.loading(ECHO)
        await host.message("ready")
        await host.close()
        self.assertEqual(await guest.exit(), (0, "", ""))

    async def test_loads_nothing_when_its_runner_is_gone_before_it_could_look(self) -> None:
        blocked = "print('loaded')\nimport time\nwhile True: time.sleep(1)\n"
        for options in ((), ("--template",)):
            guest, sock = await GuestProcess.start(blocked, *options, keep=False)
            self.addAsyncCleanup(guest.close)
            self.assertEqual(await guest.exit(), (0, "", ""))
            self.assertEqual(sock.fileno(), -1)

    async def test_prints_why_it_was_refused(self) -> None:
        guest, host = await self.loading(ECHO)
        await host.message("ready")
        host.send("refused", message="version 1 is too old")
        code, _, stderr = await guest.exit()
        self.assertEqual(code, 1)
        self.assertIn("version 1 is too old", stderr)


if __name__ == "__main__":
    unittest.main()
