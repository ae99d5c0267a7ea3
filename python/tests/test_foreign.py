from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from support.host import Host
from support.process import GuestProcess

from botcli import BotError

#: As little of the other library as makes its bots importable.
LIBRARY = {
    "pipecat/__init__.py": "",
    "pipecat/services.py": "import pipecat.runner.types\nclass Service: pass\n",
    "pipecat/runner/__init__.py": "",
    "pipecat/runner/types.py": """
        from dataclasses import dataclass, field
        from typing import Any

        @dataclass
        class RunnerArguments:
            handle_sigint: bool = field(init=False, kw_only=True)
            handle_sigterm: bool = field(init=False, kw_only=True)
            body: Any = field(default_factory=dict, kw_only=True)

        @dataclass
        class WebSocketRunnerArguments(RunnerArguments):
            websocket: Any
            transport_type: str | None = None

        @dataclass
        class DailyRunnerArguments(RunnerArguments):
            room_url: str
            token: str | None = None
    """,
    "pipecat/runner/utils.py": "async def create_transport(args, params): pass\n",
}
OURS = "from botcli import create_transport\n"
RUNNER = "from pipecat.runner.types import RunnerArguments\n"
BOT = "\nasync def bot(args): pass\n"
NESTED = "server/bot.py"


def _late(line: str) -> str:
    return f"async def run(args):\n    {line}\n"


def _beside(place: str) -> str:
    return f"import os, sys\nsys.path.append(os.path.join(os.path.dirname(__file__), '..', {place!r}))\n"


class ForeignTest(unittest.IsolatedAsyncioTestCase):
    async def start(self, bot: str, *, name: str = "bot.py", files: dict[str, str] | None = None) -> Host:
        # The library is beside the bot, where it is looked for.
        library = {str(Path(name).parent / file): text for file, text in LIBRARY.items()}
        guest, sock = await GuestProcess.start(bot, name=name, files={**library, **(files or {})})
        self.addAsyncCleanup(guest.close)
        host = await Host.on(sock)
        self.addAsyncCleanup(host.close)
        return host

    async def is_foreign(self, bot: str, **start: Any) -> bool:
        ready = await (await self.start(bot + BOT, **start)).message("ready")
        return ready.get("passThrough", False)

    async def test_a_bot_for_the_other_runner_is_known(self) -> None:
        self.assertTrue(await self.is_foreign("from pipecat.runner.types import RunnerArguments\n"))
        self.assertTrue(await self.is_foreign("from pipecat.runner.utils import create_transport\n"))
        self.assertTrue(await self.is_foreign("import pipecat.runner.types as types\n"))
        self.assertTrue(
            await self.is_foreign("import parts\n", files={"parts.py": "from pipecat.runner import types\n"})
        )
        self.assertTrue(await self.is_foreign("import pipecat.runner.types\n"))

    async def test_it_may_import_what_it_needs_only_when_it_runs(self) -> None:
        self.assertTrue(await self.is_foreign(_late("from pipecat.runner.utils import create_transport")))
        self.assertTrue(await self.is_foreign(_late("from pipecat.runner import utils")))
        self.assertTrue(await self.is_foreign(_late("import pipecat.runner.utils as utils")))
        self.assertTrue(await self.is_foreign(_late("from pipecat import runner")))
        method = "class Agent:\n    @staticmethod\n    async def run(args):\n        from pipecat.runner import utils\n"
        self.assertTrue(await self.is_foreign(method))
        decorated = "import functools\n@functools.cache\n" + _late("from pipecat.runner import utils")
        self.assertTrue(await self.is_foreign(decorated))
        self.assertTrue(await self.is_foreign("if __name__ == '__main__':\n    from pipecat.runner.run import main\n"))
        self.assertFalse(await self.is_foreign(_late("import pipecat\n    pipecat.runner = 5")))
        ours = _late("from botcli import create_transport\n    from pipecat.runner.types import RunnerArguments")
        self.assertFalse(await self.is_foreign(ours))

    async def test_it_may_come_from_a_package_elsewhere_even_an_installed_one(self) -> None:
        for place in ("elsewhere", "lib/site-packages"):
            files = {
                f"{place}/my_agent/__init__.py": "",
                f"{place}/my_agent/agent.py": f"from .parts import *\n{BOT}",
                f"{place}/my_agent/parts.py": RUNNER,
            }
            host = await self.start(_beside(place) + "from my_agent.agent import bot\n", name=NESTED, files=files)
            self.assertTrue((await host.message("ready")).get("passThrough"), place)

    async def test_what_is_near_to_the_bot_decides(self) -> None:
        use = _beside("elsewhere") + "import shared\n"
        theirs, ours = {"elsewhere/shared.py": RUNNER}, {"elsewhere/shared.py": OURS}
        self.assertTrue(await self.is_foreign(use, name=NESTED, files=theirs))
        self.assertFalse(await self.is_foreign(use + OURS, name=NESTED, files=theirs))
        self.assertTrue(await self.is_foreign(use + RUNNER, name=NESTED, files=ours))

    async def test_a_bot_of_ours_that_uses_the_library_is_not(self) -> None:
        self.assertFalse(await self.is_foreign(OURS))
        self.assertFalse(await self.is_foreign(OURS + "from pipecat.services import Service\n"))
        self.assertFalse(await self.is_foreign("from pipecat.services import Service\n"))
        self.assertFalse(await self.is_foreign(OURS + "from pipecat.runner.types import RunnerArguments\n"))
        self.assertFalse(await self.is_foreign("import botcli\nimport pipecat.runner.types as types\n"))

    async def test_it_gets_the_librarys_arguments_and_its_callers_socket(self) -> None:
        bot = """
            import os
            from pipecat.runner.types import RunnerArguments, WebSocketRunnerArguments

            async def bot(args: RunnerArguments):
                assert isinstance(args, WebSocketRunnerArguments)
                assert (args.handle_sigint, args.handle_sigterm) == (False, False)
                text = await args.websocket.receive_text()
                await args.websocket.send_json([args.transport_type, args.body, args.session_id, text])
        """
        for transport, expected in (("websocket", "websocket"), ("telephony_a", None), ("eval", None)):
            host = await self.start(bot)
            await host.message("ready")
            websocket = {"path": "/ws", "remoteAddress": "::1", "headers": {}}
            host.start(transport=transport, websocket=websocket, passThrough=True)
            host.pass_on("first")
            self.assertEqual((await host.message("end")), {"type": "end", "outcome": "returned"})
            said = host.socket[0]
            assert isinstance(said, str)
            self.assertEqual(json.loads(said), [expected, {"name": "Ada"}, "session-1", "first"])

    async def test_it_gets_its_room_and_the_names_that_it_knows(self) -> None:
        bot = """
            import os
            from pipecat.runner.types import DailyRunnerArguments

            async def bot(args):
                assert isinstance(args, DailyRunnerArguments), args
                assert (args.room_url, args.token) == ("https://rooms.example/a", "t")
                assert args.body["daily_api_key"] == "key", args.body
        """
        host = await self.start(bot)
        await host.message("ready")
        body: dict[str, Any] = {"dialin_settings": {}, "room_api_key": "key", "room_api_url": "https://x"}
        host.start(transport="room", room={"roomUrl": "https://rooms.example/a", "token": "t"}, body=body)
        self.assertEqual((await host.message("end")), {"type": "end", "outcome": "returned"})

    async def test_a_runner_that_does_not_pass_its_caller_through_is_told(self) -> None:
        host = await self.start("from pipecat.runner.types import RunnerArguments\n" + BOT)
        await host.message("ready")
        host.start()
        self.assertIn("was not passed through", (await host.message("end"))["error"]["message"])


class VersionTest(unittest.TestCase):
    def test_versions_of_another_world_are_refused(self) -> None:
        from botcli.pipecat.version import check_version

        for version in ("1.0.0", "1.14.0", "1.99.1rc1", "unknown"):
            with mock.patch("importlib.metadata.version", return_value=version):
                check_version()
        for version in ("0.0.108", "2.0.0"):
            with mock.patch("importlib.metadata.version", return_value=version):
                self.assertRaisesRegex(BotError, f"{version} is installed.*pipecat-ai>=1,<2", check_version)


class CredentialsTest(unittest.TestCase):
    def test_nothing_is_configured_twice(self) -> None:
        from botcli.pipecat.credentials import lend_credentials

        env = {"TELEPHONY_A_ACCOUNT_ID": "a", "TELEPHONY_A_AUTH_TOKEN": "b", "TELEPHONY_B_API_KEY": "c"}
        lend_credentials(env)
        self.assertEqual((env["TWILIO_ACCOUNT_SID"], env["TWILIO_AUTH_TOKEN"], env["TELNYX_API_KEY"]), ("a", "b", "c"))
        self.assertNotIn("PLIVO_AUTH_ID", env)
        env = {"TELEPHONY_A_AUTH_TOKEN": "b", "TWILIO_API_KEY": "k", "TELEPHONY_C_AUTH_ID": "i", "PLIVO_AUTH_ID": "j"}
        lend_credentials(env)
        self.assertNotIn("TWILIO_AUTH_TOKEN", env)
        self.assertEqual(env["PLIVO_AUTH_ID"], "j")


if __name__ == "__main__":
    unittest.main()
