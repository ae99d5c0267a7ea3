"""A guest that runs in the test's own process."""

from __future__ import annotations

import socket
import unittest
from collections.abc import Awaitable, Callable
from typing import Any

from botcli.guest.guest import Guest
from botcli.link.port import open_link

from . import SOURCE_FOLDER as _  # noqa: F401
from .host import Host


class SessionTest(unittest.IsolatedAsyncioTestCase):
    """Runs bots over a link in memory, and checks in the end that the guest has kept the rules of the link."""

    async def asyncSetUp(self) -> None:
        self._hosts: list[Host] = []

    async def asyncTearDown(self) -> None:
        for host in self._hosts:
            await host.close()
            self.assertEqual(host.violations, [])

    async def guest(self, **options: Any) -> tuple[Host, Guest]:
        """A guest that has not loaded anything."""
        ours, theirs = socket.socketpair()
        host = await Host.on(ours)
        self._hosts.append(host)
        guest = Guest(pid=1, runtime="test", **options)
        await open_link(theirs, guest)
        return host, guest

    async def run_bot(self, bot: Callable[[Any], Awaitable[object]], **start: Any) -> tuple[Host, Guest]:
        """A guest whose session has begun."""
        host, guest = await self.guest(grace_s=2.0)
        guest.ready(bot)
        await host.message("ready")
        host.start(**start)
        return host, guest
