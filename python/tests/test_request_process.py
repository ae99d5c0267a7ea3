from __future__ import annotations

import unittest

from support.host import Host, until
from support.process import GuestProcess, started

BOT = """
import asyncio, sys
from botcli import serve


async def on_request(request):
    if request.path == "/fail":
        return {"a": request.params["missing"]}
    if request.path == "/exit":
        sys.exit(7)
    if request.path == "/deaf":
        while True:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError:
                print("deaf")
    if request.path == "/slow":
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(0.05)
            print("cleaned up")
    return request.body


async def bot(args):
    serve(args, on_request)
    try:
        await asyncio.Event().wait()
    finally:
        print("the bot is done")
"""


class RequestProcessTest(unittest.IsolatedAsyncioTestCase):
    async def started(self) -> tuple[GuestProcess, Host]:
        guest, host = await started(BOT)
        self.addAsyncCleanup(guest.close)
        self.addAsyncCleanup(host.close)
        await host.message("serving")
        return guest, host

    async def leave(self, host: Host) -> None:
        host.cancel(300)
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        await host.close()

    async def test_answers_as_long_as_bodies_may_be(self) -> None:
        guest, host = await self.started()
        body = bytes(range(256)) * 2048
        for id in range(16):
            host.ask(id, method="PUT", body=body)
        for id in range(16):
            self.assertEqual((await host.answer(id)).body, body)
        await self.leave(host)
        self.assertEqual(await guest.exit(), (0, "the bot is done\n", ""))

    async def test_a_handler_that_fails_writes_its_traceback_and_the_session_goes_on(self) -> None:
        guest, host = await self.started()
        host.ask(1, "/fail")
        self.assertEqual((await host.answer(1)).error, {"name": "KeyError", "message": "'missing'"})
        host.ask(2, body=b"still here")
        self.assertEqual((await host.answer(2)).body, b"still here")
        await self.leave(host)
        code, output, errors = await guest.exit()
        self.assertEqual((code, output), (0, "the bot is done\n"))
        self.assertRegex(errors, r"(?s)^Traceback[^T]*bot.py\", line \d+, in on_request\n.*\nKeyError: 'missing'\n$")

    async def test_what_runs_when_the_session_ends_is_cancelled_without_a_word_of_ours(self) -> None:
        guest, host = await self.started()
        for id, path in enumerate(("/slow", "/deaf", "/slow")):
            host.ask(id, path)
        await host.settled()
        await self.leave(host)
        code, output, errors = await guest.exit()
        self.assertEqual((code, errors), (0, ""))
        self.assertEqual(output.count("cleaned up"), 2)

    async def test_a_handler_may_end_its_process(self) -> None:
        guest, host = await self.started()
        host.ask(1, "/exit")
        await until(host.closed.is_set)
        self.assertEqual((await guest.exit())[0], 7)


if __name__ == "__main__":
    unittest.main()
