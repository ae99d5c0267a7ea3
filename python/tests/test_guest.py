from __future__ import annotations

import asyncio
import contextlib
import io
import unittest
from typing import Any

from support.host import until
from support.session import SessionTest

from botcli import TransportParams, create_transport


class GuestTest(SessionTest):
    async def test_what_came_before_the_transport_is_delivered_to_its_listeners(self) -> None:
        seen: list[Any] = []
        go = asyncio.Event()

        async def bot(args: Any) -> None:
            await go.wait()
            transport = await create_transport(args, {"webrtc": TransportParams})
            transport.on("message", seen.append)
            transport.on("connected", lambda: seen.append("connected"))
            await transport.wait_ended()

        host, _ = await self.run_bot(bot)
        warning = io.StringIO()
        with contextlib.redirect_stderr(warning):
            for number in range(300):
                host.say(number)
            host.send("connected")
            await host.settled()
        self.assertEqual(warning.getvalue().count("more than 256 messages"), 1)
        go.set()
        await until(lambda: "connected" in seen or None)
        self.assertEqual(seen, [*range(256), "connected"])

    async def test_a_bot_that_ignores_its_transport_is_cancelled_in_time(self) -> None:
        seen: list[str] = []

        async def bot(args: Any) -> None:
            try:
                await asyncio.sleep(1000)
            except asyncio.CancelledError as error:
                seen.append(str(error))
                raise

        host, guest = await self.run_bot(bot)
        await host.settled()
        host.cancel(200)
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        self.assertEqual(seen, ["the session is over: the caller left"])
        await host.close()
        self.assertTrue((await asyncio.wait_for(guest.done, 10)).ok)

    async def test_a_bot_that_ignores_being_cancelled_has_failed(self) -> None:
        stop = asyncio.Event()

        async def bot(args: Any) -> None:
            while not stop.is_set():
                try:
                    await stop.wait()
                except asyncio.CancelledError:
                    pass

        host, guest = await self.run_bot(bot)
        await host.settled()
        host.cancel(200)
        end = await host.message("end")
        self.assertEqual(end["outcome"], "failed")
        self.assertRegex(end["error"]["message"], "did not return within 200 ms.*the caller left")
        await host.close()
        self.assertFalse((await asyncio.wait_for(guest.done, 10)).ok)
        stop.set()

    async def test_a_bot_that_notices_the_end_by_an_error_has_not_failed(self) -> None:
        async def bot(args: Any) -> None:
            transport = await create_transport(args, {"webrtc": TransportParams})
            while True:
                await transport.send_audio(bytes(48000))

        host, _ = await self.run_bot(bot)
        await host.message("format")
        await host.settled()
        host.cancel()
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})

    async def test_a_group_of_tasks_that_notices_the_end_has_not_failed(self) -> None:
        for error, outcome in ((None, "returned"), (ValueError("while cleaning up"), "failed")):

            async def bot(args: Any) -> None:
                transport = await create_transport(args, {"webrtc": TransportParams})

                async def speak() -> None:
                    while True:
                        await transport.send_audio(bytes(48000))

                async def clean_up() -> None:
                    try:
                        await asyncio.sleep(1000)
                    finally:
                        if error is not None:
                            raise error

                async with asyncio.TaskGroup() as outer:
                    outer.create_task(clean_up())
                    async with asyncio.TaskGroup() as inner:
                        inner.create_task(speak())

            host, _ = await self.run_bot(bot)
            await host.message("format")
            await host.settled()
            host.cancel()
            self.assertEqual((await host.message("end"))["outcome"], outcome)

    async def test_a_group_with_more_than_errors_is_not_lost(self) -> None:
        class Stop(BaseException):
            pass

        async def bot(args: Any) -> None:
            raise BaseExceptionGroup("both", [ValueError("one"), Stop("other")])

        host, _ = await self.run_bot(bot)
        self.assertEqual((await host.message("end"))["outcome"], "failed")

    async def test_errors_after_the_end_are_told(self) -> None:
        async def bot(args: Any) -> None:
            transport = await create_transport(args, {"webrtc": TransportParams})
            await transport.wait_ended()
            raise ValueError("while cleaning up")

        host, _ = await self.run_bot(bot)
        await host.message("format")
        host.cancel()
        end = await host.message("end")
        self.assertEqual((end["outcome"], end["error"]["message"]), ("failed", "while cleaning up"))

    async def test_a_listener_that_raises_ends_the_session(self) -> None:
        for kind in ("plain", "async"):

            async def bot(args: Any) -> None:
                transport = await create_transport(args, {"webrtc": TransportParams})

                def plain(message: object) -> None:
                    raise KeyError("listener")

                async def later(message: object) -> None:
                    plain(message)

                transport.on("message", plain if kind == "plain" else later)
                await asyncio.sleep(1000)

            host, _ = await self.run_bot(bot)
            host.say(1)
            end = await host.message("end")
            self.assertEqual((end["outcome"], end["error"]["name"]), ("failed", "KeyError"))
            self.assertIn("in plain", end["error"]["stack"])

    async def test_a_bot_that_cancels_everything_it_finds_does_not_break_its_guest(self) -> None:
        me = asyncio.current_task()

        async def bot(args: Any) -> None:
            for task in asyncio.all_tasks():
                if task is not me and task is not asyncio.current_task() and "guest" in str(task.get_coro()).lower():
                    task.cancel()

        host, guest = await self.run_bot(bot)
        self.assertEqual((await host.message("end"))["outcome"], "returned")
        await host.close()
        self.assertTrue((await asyncio.wait_for(guest.done, 10)).ok)

    async def test_a_host_that_makes_no_sense_is_left(self) -> None:
        for nonsense in (b"\x09\0\0\0\0", b"\x01\0\0\0\x02{}", b"\x01\xff\xff\xff\xff"):

            async def bot(args: Any) -> None:
                transport = await create_transport(args, {"webrtc": TransportParams})
                self.reason = await transport.wait_ended()

            host, guest = await self.run_bot(bot)
            await host.message("format")
            host.raw(nonsense)
            result = await asyncio.wait_for(guest.done, 10)
            self.assertFalse(result.ok)
            self.assertRegex(result.message or "", "the link broke: ")
            self.assertEqual(self.reason.cause, "media_failed")

    async def test_a_start_that_comes_too_early_or_twice_is_refused(self) -> None:
        host, guest = await self.guest()
        host.start()
        result = await asyncio.wait_for(guest.done, 10)
        self.assertIn("not ready", result.message or "")

        async def bot(args: Any) -> None:
            await asyncio.sleep(1000)

        host, guest = await self.run_bot(bot)
        host.start()
        result = await asyncio.wait_for(guest.done, 10)
        self.assertFalse(result.ok)

    async def test_leaves_by_itself_when_the_host_does_not_close(self) -> None:
        async def bot(args: Any) -> None:
            pass

        host, guest = await self.run_bot(bot)
        await host.message("end")
        self.assertTrue((await asyncio.wait_for(guest.done, 10)).ok)
        await until(host.closed.is_set)

    async def test_tells_its_memory(self) -> None:
        host, _ = await self.guest()
        host.send("ping", id=77)
        pong = await host.message("pong")
        self.assertEqual(pong["id"], 77)
        self.assertTrue(2**20 < pong["rss"] < 2**33)


if __name__ == "__main__":
    unittest.main()
