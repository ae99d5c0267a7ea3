import type { Configuration } from '../configuration.ts'
import { projectVariables } from './variables.ts'

/** `tests/test_bot.py`: that the bot loads, and what it says when a key is missing. Needs no key and no network. */
export function smokeTest(configuration: Configuration): string {
  const anyRequired = projectVariables(configuration).some(({ required }) => required)
  return `"""The bot loads. Needs no key: \`uv run python -m unittest discover -s tests\`."""

import importlib
import inspect
import os
import unittest
from unittest.mock import patch

import settings


class BotTest(unittest.TestCase):
    def test_it_loads(self) -> None:
        with patch.dict(os.environ, dict.fromkeys(settings.REQUIRED, "test")):
            bot = importlib.import_module("bot")
        self.assertTrue(inspect.iscoroutinefunction(bot.bot))
${anyRequired ? MISSING : ''}

if __name__ == "__main__":
    unittest.main()
`
}

const MISSING = `
    def test_it_names_every_missing_variable(self) -> None:
        with (
            patch.dict(os.environ, clear=True),
            self.assertRaises(settings.MissingSettings) as caught,
        ):
            settings.check_settings()
        for name in settings.REQUIRED:
            self.assertIn(name, str(caught.exception))
`
