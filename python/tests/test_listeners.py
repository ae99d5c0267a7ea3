from __future__ import annotations

import asyncio
import unittest
from typing import Any

from support.host import until
from support.transport import FRAME, TransportSession


class ListenersTest(TransportSession):
    async def test_sound_counts_as_heard_when_a_listener_begins_with_it(self) -> None:
        host, transport = await self.transport()
        begun: list[int] = []
        go = asyncio.Semaphore(0)

        @transport.event("audio")
        async def on_audio(frame: Any) -> None:
            begun.append(frame.captured_at)
            await go.acquire()

        for at in range(50):
            host.audio_in(at, FRAME)
        await host.settled()
        self.assertEqual((begun, host.heard), ([0], []))
        for _ in range(12):
            go.release()
        await until(lambda: len(begun) == 13 or None)
        await host.settled()
        self.assertEqual((begun, host.heard), (list(range(13)), [5, 10]))
        transport.off("audio", on_audio)
        await host.settled()
        self.assertEqual(host.heard[-1], 50)
        go.release()
        await host.settled()
        self.assertEqual(len(begun), 13)

    async def test_a_slow_listener_beside_a_fast_one_loses_the_oldest_sound(self) -> None:
        host, transport = await self.transport()
        slow: list[int] = []
        fast: list[int] = []
        go = asyncio.Event()

        @transport.event("audio")
        async def on_audio(frame: Any) -> None:
            slow.append(frame.captured_at)
            await go.wait()

        transport.on("audio", lambda frame: fast.append(frame.captured_at))
        for at in range(300):
            host.audio_in(at, FRAME)
        await host.settled()
        self.assertEqual((fast, host.heard[-1]), (list(range(300)), 300))
        go.set()
        await until(lambda: slow[-1] == 299 or None)
        self.assertEqual(slow, [0, *range(172, 300)])

    async def test_a_listener_gets_one_event_at_a_time_in_order(self) -> None:
        host, transport = await self.transport()
        seen: list[Any] = []

        @transport.event("message")
        async def on_message(message: Any) -> None:
            seen.append(("begin", message))
            await asyncio.sleep(0.01 if message % 2 else 0)
            seen.append(("end", message))

        for number in range(10):
            host.say(number)
        await until(lambda: ("end", 9) in seen or None)
        self.assertEqual(seen, [(what, number) for number in range(10) for what in ("begin", "end")])

    async def test_a_listener_that_is_cancelled_gets_the_next_event(self) -> None:
        host, transport = await self.transport()
        tasks: list[Any] = []

        @transport.event("message")
        async def on_message(message: Any) -> None:
            tasks.append(asyncio.current_task())
            await asyncio.sleep(1000)

        host.say(1)
        host.say(2)
        await until(lambda: tasks or None)
        tasks[0].cancel()
        await until(lambda: len(tasks) == 2 or None)
        tasks[1].cancel()

    async def test_a_bot_that_does_not_take_its_messages_is_broken(self) -> None:
        host, transport = await self.transport()

        @transport.event("message")
        async def on_message(message: Any) -> None:
            await asyncio.sleep(1000)

        for number in range(1025):
            host.say(number)
        await host.settled()
        self.assertFalse(any(message["type"] == "end" for message in host.messages))
        host.say("one too many")
        end = await host.message("end")
        self.assertEqual(end["outcome"], "failed")
        self.assertRegex(end["error"]["message"], "1024 events 'message' wait for the listener .*on_message")
        for task in asyncio.all_tasks():
            if "on_message" in str(task.get_coro()):
                task.cancel()


if __name__ == "__main__":
    unittest.main()
