from __future__ import annotations

import unittest
from typing import Any

from support.host import Host, until
from support.process import GuestProcess, started

FAILS_ON_DEMAND = """
import asyncio, os, sys, time
from botcli import TransportParams, create_transport


async def later():
    raise KeyError("nobody caught me")


def now():
    raise ValueError("out of nowhere")


def block(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(100))


async def bot(args):
    transport = await create_transport(args, {"webrtc": TransportParams})
    way = args.body["way"]
    if way == "raise":
        raise TypeError("I cannot do this")
    if way == "task":
        asyncio.create_task(later())
    if way == "callback":
        asyncio.get_running_loop().call_later(0.01, now)
    if way == "sys.exit":
        sys.exit(7)
    if way == "sys.exit in a listener":
        transport.on("message", lambda message: sys.exit("told why"))
    if way == "os._exit":
        os._exit(9)
    if way == "kill":
        os.kill(os.getpid(), 9)
    if way == "block":
        block(1.2)
    if way == "sleep":
        time.sleep(1.2)
    # Again and again: on a machine that is short of time one alone may be taken for the machine's fault.
    while way == "hold":
        sum(range(80_000_000))
        transport.rtvi.server_message("still here")
        await asyncio.sleep(0.5)
    if way == "flood":
        while True:
            transport.send_message("x" * 100_000)
    if way == "flood sound":
        tasks = [asyncio.create_task(transport.send_audio(bytes(48000))) for _ in range(100)]
        await asyncio.gather(*tasks)
    if way == "deaf":
        while True:
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                pass
    transport.rtvi.server_message("still here")
    await transport.wait_ended()
"""


class FailingBotsTest(unittest.IsolatedAsyncioTestCase):
    async def started(self, way: str) -> tuple[GuestProcess, Host]:
        guest, host = await started(FAILS_ON_DEMAND, body={"way": way})
        self.addAsyncCleanup(guest.close)
        self.addAsyncCleanup(host.close)
        return guest, host

    async def test_an_error_is_told_with_its_place(self) -> None:
        for way, name, message, place in (
            ("raise", "TypeError", "I cannot do this", "in bot"),
            ("task", "KeyError", "'nobody caught me'", "in later"),
            ("callback", "ValueError", "out of nowhere", "in now"),
        ):
            with self.subTest(way):
                guest, host = await self.started(way)
                end = await host.message("end")
                self.assertEqual((end["outcome"], end["error"]["name"]), ("failed", name))
                self.assertEqual(end["error"]["message"], message)
                self.assertRegex(end["error"]["stack"], rf'bot.py", line \d+, {place}\n')
                self.assertNotIn("asyncio", end["error"]["stack"])
                await host.close()
                code, _, stderr = await guest.exit()
                self.assertEqual((code, stderr), (1, ""))

    async def test_exits(self) -> None:
        for way, code in (("sys.exit", 7), ("os._exit", 9), ("kill", -9)):
            with self.subTest(way):
                guest, host = await self.started(way)
                await until(host.closed.is_set)
                self.assertFalse(any(message["type"] == "end" for message in host.messages))
                self.assertEqual(await guest.exit(), (code, "", ""))

    async def test_exits_with_words(self) -> None:
        guest, host = await self.started("sys.exit in a listener")
        await until(lambda: host.said or None)
        host.say("go")
        self.assertEqual(await guest.exit(), (1, "", "told why\n"))

    async def test_floods(self) -> None:
        _, host = await self.started("flood")
        end = await host.message("end")
        self.assertIn("messages are sent faster", end["error"]["message"])
        _, host = await self.started("flood sound")
        end = await host.message("end")
        self.assertIn("seconds of sound are queued", end["error"]["message"])

    async def test_ignores_being_cancelled(self) -> None:
        guest, host = await self.started("deaf")
        await host.message("format")
        host.cancel(300)
        end = await host.message("end")
        self.assertEqual((end["outcome"], end["error"]["name"]), ("failed", "BotError"))
        await host.close()
        self.assertEqual((await guest.exit())[0], 1)

    async def blocked(self, way: str) -> list[dict[str, Any]]:
        guest, host = await self.started(way)
        await until(lambda: host.said or None)
        await until(lambda: b'"over": true' in guest.stderr or None, "a report")
        host.cancel()
        await host.message("end")
        await host.close()
        self.assertEqual((await guest.exit())[2], "")
        return guest.reports()

    async def test_blocks_its_loop(self) -> None:
        source = FAILS_ON_DEMAND.splitlines()
        # Code that does not let go of the interpreter is seen when it does, which is shortly after its line.
        for way, text in (("block", "sum(range"), ("sleep", "time.sleep(1"), ("hold", "")):
            with self.subTest(way):
                reports = await self.blocked(way)
                self.assertTrue(all(report["type"] == "blocked" for report in reports))
                self.assertTrue(any(report["over"] and report["ms"] > 500 for report in reports))
                places = [report["at"].split(":") for report in reports if report["over"] and "at" in report]
                self.assertTrue(all(file == "bot.py" for file, _ in places))
                # A loop may be seen at either of its two lines.
                near = ["\n".join(source[int(line) - 2 : int(line) + 1]) for _, line in places]
                self.assertTrue(text == "" or any(text in lines for lines in near), reports)


if __name__ == "__main__":
    unittest.main()
