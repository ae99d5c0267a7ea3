"""Makes every service of generated bots, with keys only and with every other variable blank.

Reads `[{"name", "folder", "variables": {name: required}}]` and writes `[{"name", "error"?, "settings", "deprecated"}]`.
Libraries of vendors that are not installed are replaced by stand-ins.
"""

import ast
import asyncio
import importlib.abc
import importlib.machinery
import json
import os
import sys
import warnings
from pathlib import Path
from unittest.mock import MagicMock

#: What has to be more than a word.
VALUES = {"GOOGLE_APPLICATION_CREDENTIALS": str(Path(__file__).with_name("google-key.json"))}
OURS = ("bot", "settings", "pipecat", "botcli")


class StandIn(MagicMock):
    """A module, a class or whatever else is asked of it."""

    __path__: list[str] = []

    def __init__(self, *args, **kwargs):
        super().__init__()

    def __mro_entries__(self, bases):
        return (object,)


class StandIns(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The last one who is asked for a module."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in OURS or name.split(".")[0] in sys.stdlib_module_names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return StandIn()

    def exec_module(self, module):
        pass


def forget(name: str) -> None:
    sys.modules.pop(name, None)


def service_statements(source: str) -> list[ast.stmt]:
    """What `run_bot` makes before its context."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.AsyncFunctionDef) and node.name == "run_bot":
            made = []
            for statement in node.body[1:]:
                if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                    break
                if statement.targets[0].id == "context":
                    break
                made.append(statement)
            return made
    raise ValueError("no run_bot")


async def construct(case: dict) -> dict:
    folder = Path(case["folder"])
    for name in case["variables"]:
        os.environ.pop(name, None)
    for name, required in case["variables"].items():
        os.environ[name] = VALUES.get(name, "test") if required else ""
    forget("settings")
    sys.path.insert(0, str(folder))
    result = {"name": case["name"], "settings": {}}
    try:
        source = (folder / "bot.py").read_text()
        space: dict = {"__name__": "bot", "__file__": str(folder / "bot.py"), "session": MagicMock()}
        exec(compile(source, "bot.py", "exec"), space)
        for statement in service_statements(source):
            exec(compile(ast.Module([statement], []), "bot.py", "exec"), space)
            name = statement.targets[0].id
            settings = getattr(space[name], "_settings", None)
            result["settings"][name] = {
                key: str(getattr(settings, key, None)) for key in ("model", "voice") if settings is not None
            }
    except Exception as error:
        result["error"] = f"{type(error).__name__}: {error}"
    finally:
        sys.path.remove(str(folder))
    return result


async def main() -> None:
    sys.meta_path.append(StandIns())
    cases = json.load(sys.stdin)
    results = []
    for case in cases:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = await construct(case)
        # Those of the library itself; it has one way to say it.
        texts = {str(warning.message) for warning in caught}
        results.append({**result, "deprecated": sorted(text for text in texts if " is deprecated since " in text)})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
