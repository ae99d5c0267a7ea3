"""Misbehaves in the way that its caller asks for, once the caller can be heard."""

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

from botcli import TRANSPORT_IDS, RunnerArguments, Transport, TransportParams, create_transport

RATE = 16_000
SECOND = bytes(2 * RATE)
MESSAGE = {"label": "noise", "type": "noise", "id": "1", "data": "x" * 100}


def params() -> TransportParams:
    return TransportParams(audio_in_sample_rate=RATE, audio_out_sample_rate=RATE)


async def bot(args: RunnerArguments) -> None:
    transport = await create_transport(args, {transport: params for transport in TRANSPORT_IDS})
    transport.on("dtmf", lambda keys: print("keys", keys))
    async for _ in transport.audio():
        break
    print("pid", os.getpid())
    await globals()[args.body["act"]](transport)


# Bots that behave.


async def stays(transport: Transport) -> None:
    transport.rtvi.server_message("still here")
    await transport.wait_ended()


async def returns(transport: Transport) -> None:
    pass


# Bots that raise.


async def raises(transport: Transport) -> None:
    raise TypeError("I cannot do this")


async def raises_in_callback(transport: Transport) -> None:
    asyncio.get_running_loop().call_soon(broken_callback)
    await transport.wait_ended()


def broken_callback() -> None:
    print(1 / 0)


async def raises_in_task(transport: Transport) -> None:
    asyncio.ensure_future(broken_task())
    await transport.wait_ended()


async def broken_task() -> None:
    raise LookupError("nobody waits for me")


async def raises_in_listener(transport: Transport) -> None:
    transport.on("audio", broken_listener)
    await transport.wait_ended()


def broken_listener(frame: object) -> None:
    raise ValueError("what a noise")


# Bots whose process ends.


async def exits(transport: Transport) -> None:
    os._exit(3)


async def exits_politely(transport: Transport) -> None:
    sys.exit(4)


async def exits_with_words(transport: Transport) -> None:
    sys.exit("I had enough")


async def aborts(transport: Transport) -> None:
    os.abort()


async def reads_nowhere(transport: Transport) -> None:
    ctypes.string_at(0)


async def leaves_heir(transport: Transport) -> None:
    """The child has inherited all of its streams, so that none of them ends with this process."""
    if os.fork() == 0:
        print("pid", os.getpid())
        time.sleep(3600)
    time.sleep(0.2)
    os._exit(5)


# Bots that do not stop.


async def floods_messages(transport: Transport) -> None:
    while True:
        transport.send_message(MESSAGE)


async def floods_messages_in_turns(transport: Transport) -> None:
    while True:
        for _ in range(200):
            transport.send_message(MESSAGE)
        await asyncio.sleep(0.01)


async def floods_sound(transport: Transport) -> None:
    while True:
        asyncio.ensure_future(transport.send_audio(SECOND))
        await asyncio.sleep(0)


async def leaks(transport: Transport) -> None:
    kept = []
    while True:
        kept.append(bytearray(b"x" * 1_000_000))
        await asyncio.sleep(0.001)


async def prints(transport: Transport) -> None:
    """At first without a pause; what comes later is certain to be seen."""
    number = 0
    while transport.end_reason is None:
        print("line", number)
        number += 1
        if number > 10_000:
            await asyncio.sleep(0.3)


# Bots that do not go on.


async def blocks(transport: Transport) -> None:
    end = time.monotonic() + 1.2
    while time.monotonic() < end:
        pass
    await stays(transport)


async def stands_still(transport: Transport) -> None:
    time.sleep(3600)


async def hears_slowly(transport: Transport) -> None:
    """Takes one frame for each time that it is told to; the first is only taken when it asks for the second."""
    frames = transport.audio()
    first = await anext(frames)
    keys: asyncio.Queue[str] = asyncio.Queue()
    transport.on("dtmf", keys.put_nowait)
    transport.on("message", lambda message: keys.put_nowait(""))
    print("listens")
    await keys.get()
    last = first
    jump = 0
    for _ in range(100):
        frame = await anext(frames)
        jump = max(jump, frame.captured_at - last.captured_at)
        last = frame
    print("missed", jump)
    await transport.wait_ended()


# Bots that do not go.


async def ignores_cancel(transport: Transport) -> None:
    transport.rtvi.server_message("still here")
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            print("I stay")


async def blocks_at_its_end(transport: Transport) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    transport.rtvi.server_message("still here")
    await transport.wait_ended()
    time.sleep(3600)


async def leaves_work(transport: Transport) -> None:
    """A thread that never ends, a program, a process, and a task."""
    threading.Thread(target=time.sleep, args=(3600,)).start()
    print("pid", subprocess.Popen(["sleep", "3600"]).pid)
    if os.fork() == 0:
        print("pid", os.getpid())
        time.sleep(3600)
    asyncio.get_running_loop().create_task(ignores_cancel(transport))
    await asyncio.sleep(0.2)
