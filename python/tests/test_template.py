from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

from support import SOURCE_FOLDER
from support.host import Host, until
from support.process import GuestProcess, kill, lives, start_with_fd3, without_reports

BOT = """
import atexit, os, random, sys, time
import helper
from botcli import TransportParams, create_transport

LOADED_BY = os.getpid()
atexit.register(lambda: print("at exit of", os.getpid()))
print("loaded")


async def bot(args):
    transport = await create_transport(args, {"webrtc": TransportParams})
    helper.counter += 1
    print("hello from", args.session_id)
    print("an error line", file=sys.stderr)
    facts = {
        "pid": os.getpid(), "loadedBy": LOADED_BY, "counter": helper.counter, "dice": random.random(),
        "leader": os.getpgid(0) == os.getpid() == os.getsid(0),
    }
    transport.send_message(facts)
    if args.body.get("way") == "exit":
        sys.exit(5)
    if args.body.get("way") == "stand still":
        time.sleep(1000)
    await transport.wait_ended()
"""


class Child:
    """What a runner knows of one guest that it has asked for."""

    def __init__(self) -> None:
        self.output: dict[str, asyncio.Future[bytes]] = {}
        self.host: Host | None = None


class TemplateTest(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.lines: list[dict[str, Any]] = []
        self.children: dict[int, Child] = {}

    async def template(self, bot: str = BOT, files: dict[str, str] | None = None, **options: Any) -> GuestProcess:
        files = {"helper.py": "counter = 0\n"} if files is None else files
        guest, sock = await GuestProcess.start(bot, "--template", files=files, **options)
        self.addAsyncCleanup(guest.close)
        reader, self.control = await asyncio.open_unix_connection(sock=sock)
        self.socket_path = str(guest.folder / "link.sock")
        server = await asyncio.start_unix_server(self.accept, self.socket_path)
        self.addCleanup(server.close)
        reading = asyncio.create_task(self.read(reader))
        self.addCleanup(reading.cancel)
        self.addCleanup(self.control.close)
        return guest

    async def read(self, reader: asyncio.StreamReader) -> None:
        while line := await reader.readline():
            self.lines.append(json.loads(line))

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        header = json.loads(await reader.readline())
        child = self.children[header["id"]]
        if header["kind"] == "link":
            child.host = Host(reader, writer)
            self.addAsyncCleanup(child.host.close)
        else:
            child.output[header["kind"]] = asyncio.ensure_future(reader.read())
            self.addCleanup(writer.close)

    async def line(self, type: str, **fields: Any) -> dict[str, Any]:
        wanted = {"type": type, **fields}
        return await until(
            lambda: next((line for line in self.lines if wanted.items() <= line.items()), None), str(wanted)
        )

    async def fork(self, id: int) -> tuple[Host, int]:
        self.children[id] = Child()
        self.control.write(json.dumps({"type": "fork", "id": id, "socket": self.socket_path}).encode() + b"\n")
        pid = (await self.line("forked", id=id))["pid"]
        host = await until(lambda: self.children[id].host, "a link")
        await host.message("ready")
        return host, pid

    async def test_forks_three_guests_that_share_nothing_but_what_was_loaded(self) -> None:
        template = await self.template()
        loaded = await self.line("loaded")
        self.assertEqual(loaded["forkSafe"], True)
        self.assertEqual(loaded["files"], [str(template.folder / name) for name in ("bot.py", "helper.py")])
        guests = [await self.fork(id) for id in (1, 2, 3)]
        facts = []
        for number, (host, pid) in enumerate(guests):
            self.assertEqual([message["type"] for message in host.messages], ["hello", "ready"])
            self.assertEqual(host.messages[0]["pid"], pid)
            host.start(sessionId=f"s{number}")
            await until(lambda: host.said or None)
            facts.append(host.said[0])
            self.assertEqual(host.said[0]["pid"], pid)
        self.assertEqual({fact["loadedBy"] for fact in facts}, {template.process.pid})
        self.assertEqual([fact["counter"] for fact in facts], [1, 1, 1])
        self.assertEqual(len({fact["dice"] for fact in facts}), 3)
        self.assertTrue(all(fact["leader"] for fact in facts))
        for number, (host, pid) in enumerate(guests):
            host.cancel()
            await host.message("end")
            await host.close()
            await self.line("exited", pid=pid, code=0)
            output = self.children[number + 1].output
            self.assertEqual((await output["stdout"]).decode(), f"hello from s{number}\n")
            self.assertEqual(without_reports(await output["stderr"]), "an error line\n")
        self.control.close()
        code, stdout, stderr = await template.exit()
        self.assertEqual((code, stderr), (0, ""))
        self.assertEqual(stdout, f"loaded\nat exit of {template.process.pid}\n")

    async def test_tells_the_users_files_wherever_they_are(self) -> None:
        bot = """
            import os, sys
            here = os.path.dirname(__file__)
            sys.path += [os.path.join(here, "../lib"), os.path.join(here, "../env/site-packages")]
            import a_shared, installed, json, helper

            async def bot(args): ...
        """
        files = {"server/helper.py": "", "lib/a_shared.py": "", "env/site-packages/installed.py": ""}
        template = await self.template(bot, files, name="server/bot.py")
        expected = [str(template.folder / name) for name in ("server/bot.py", "server/helper.py", "lib/a_shared.py")]
        self.assertEqual((await self.line("loaded"))["files"], expected)

    async def test_what_was_started_while_it_loaded_ends_with_it(self) -> None:
        bot = """
            import subprocess
            from botcli import TransportParams, create_transport
            program = subprocess.Popen(["sleep", "1000"])

            async def bot(args):
                transport = await create_transport(args, {"webrtc": TransportParams})
                transport.send_message(program.pid)
                await transport.wait_ended()
        """
        template = await self.template(bot, detached=True)
        await self.line("loaded")
        host, pid = await self.fork(1)
        host.start()
        program = await until(lambda: host.said[0] if host.said else None)
        self.addCleanup(kill, program)
        self.control.close()
        await until(lambda: not lives(program) or None, "the end of the program")
        await template.exit()
        # A guest goes on.
        host.cancel()
        self.assertEqual((await host.message("end"))["outcome"], "returned")
        await host.close()
        await until(lambda: not lives(pid) or None)

    async def test_a_guest_that_stands_still_takes_along_what_it_started(self) -> None:
        bot = """
            import subprocess, time
            from botcli import TransportParams, create_transport

            async def bot(args):
                transport = await create_transport(args, {"webrtc": TransportParams})
                transport.send_message(subprocess.Popen(["sleep", "1000"]).pid)
                time.sleep(1000)
        """
        template = await self.template(bot)
        await self.line("loaded")
        host, pid = await self.fork(1)
        host.start()
        program = await until(lambda: host.said[0] if host.said else None)
        self.addCleanup(kill, program)
        self.control.close()
        await template.exit()
        await host.close()
        for gone in (pid, program):
            await until(lambda: not lives(gone) or None, f"the end of {gone}")

    async def test_tells_how_its_children_ended(self) -> None:
        await self.template()
        await self.line("loaded")
        host, pid = await self.fork(1)
        host.start(body={"way": "exit"})
        await self.line("exited", pid=pid, code=5)
        _, pid = await self.fork(2)
        os.kill(pid, signal.SIGKILL)
        await self.line("exited", pid=pid, signal="SIGKILL")

    async def test_a_session_goes_on_when_the_template_is_gone(self) -> None:
        template = await self.template()
        await self.line("loaded")
        host, pid = await self.fork(1)
        host.start()
        await until(lambda: host.said or None)
        template.process.send_signal(signal.SIGINT)
        await host.settled()
        template.process.kill()
        await template.exit()
        await host.settled()
        host.cancel()
        self.assertEqual((await host.message("end"))["outcome"], "returned")
        await host.close()
        await until(lambda: not Path(f"/proc/{pid}").exists() or None)

    async def test_a_guest_that_stands_still_ends_when_nobody_is_left(self) -> None:
        template = await self.template()
        await self.line("loaded")
        host, pid = await self.fork(1)
        host.start(body={"way": "stand still"})
        await until(lambda: host.said or None)
        template.process.kill()
        await template.exit()
        await asyncio.sleep(0.8)
        os.kill(pid, 0)
        await host.close()
        await until(lambda: not Path(f"/proc/{pid}").exists() or None)

    async def test_each_guest_answers_the_requests_to_its_own_session(self) -> None:
        await self.template("""
            import asyncio
            from botcli import serve

            async def bot(args):
                serve(args, lambda request: [args.session_id, request.path])
                await asyncio.sleep(1000)
        """)
        await self.line("loaded")
        guests = [await self.fork(id) for id in (1, 2)]
        for number, (host, _) in enumerate(guests):
            host.start(sessionId=f"session-{number}")
            await host.message("serving")
        for number, (host, pid) in enumerate(guests):
            host.ask(5, "/here")
            self.assertEqual((await host.answer(5)).body, f'["session-{number}","/here"]'.encode())
            host.cancel(200)
            await host.message("end")
            await host.close()
            await self.line("exited", pid=pid, code=0)
            self.assertEqual(await self.children[number + 1].output["stderr"], b"")

    async def test_a_bot_that_cannot_be_loaded(self) -> None:
        template = await self.template("import helper\n1 / 0\n")
        failed = await self.line("load-failed")
        self.assertEqual(failed["error"]["name"], "ZeroDivisionError")
        self.assertIn('bot.py", line 2', failed["error"]["stack"])
        self.assertEqual((await template.exit())[0], 1)

    async def test_threads_make_forking_unsafe(self) -> None:
        await self.template("""
            import threading, time
            threading.Thread(target=time.sleep, args=(1000,), name="my-thread", daemon=True).start()

            async def bot(args): ...
        """)
        loaded = await self.line("loaded")
        self.assertFalse(loaded["forkSafe"])
        self.assertIn("my-thread", loaded["reason"])

    async def test_a_runner_that_does_not_answer_costs_one_child(self) -> None:
        await self.template()
        await self.line("loaded")
        message = {"type": "fork", "id": 9, "socket": self.socket_path + ".gone"}
        self.control.write(json.dumps(message).encode() + b"\n")
        pid = (await self.line("forked", id=9))["pid"]
        await self.line("exited", pid=pid, code=1)
        await self.fork(10)

    async def test_a_template_ends_with_its_runner_while_it_loads(self) -> None:
        folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, folder)
        (folder / "bot.py").write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(1000)\n")
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        # The shell stands for the runner.
        shell = await start_with_fd3(
            theirs.fileno(),
            ["sh", "-c", f"{sys.executable} -m botcli.guest --template & wait"],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(SOURCE_FOLDER), "BOTCLI_BOT_PATH": str(folder / "bot.py")},
        )
        theirs.close()
        pid = await until(lambda: _number(folder / "pid"))
        shell.kill()
        await shell.wait()
        await until(lambda: not Path(f"/proc/{pid}").exists() or None, "the end of the template")


def _number(path: Path) -> int | None:
    text = path.read_text() if path.exists() else ""
    return int(text) if text else None


if __name__ == "__main__":
    unittest.main()
