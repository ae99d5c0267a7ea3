import type { Configuration } from '../configuration.ts'
import { traitsOf, valuesOf } from './traits.ts'
import { hasCallServer, projectVariables } from './variables.ts'

/** `settings.py`: how the project reads its variables. */
export function settingsModule(configuration: Configuration): string {
  const traits = traitsOf(configuration)
  const values = traits.services.flatMap(valuesOf)
  const required = projectVariables(configuration).filter((variable) => variable.required)
  const optional = values.filter((value) => value.kind === 'optional')
  const readsKeys = values.some((value) => value.kind === 'required') || readsCarrier(configuration)
  const readsEither = values.some((value) => value.kind === 'either') || hasCallServer(traits)
  return [
    head(optional.length > 0),
    required.length === 0
      ? 'REQUIRED: list[str] = []\n'
      : `REQUIRED = [\n${required.map(({ name }) => `    "${name}",\n`).join('')}]\n`,
    CHECK,
    ...(readsKeys ? [REQUIRED] : []),
    ...(readsEither ? [EITHER] : []),
    ...(hasCallServer(traits) || configuration.observability ? [OPTIONAL] : []),
    ...(optional.some(({ type, allowed }) => type === undefined && allowed === undefined) ? [GIVEN] : []),
    ...(optional.some(({ type }) => type !== undefined) ? [GIVEN_WHOLE] : []),
    ...(optional.some(({ allowed }) => allowed !== undefined) ? [GIVEN_ONE_OF] : []),
    END,
  ].join('')
}

function readsCarrier(configuration: Configuration): boolean {
  return configuration.sipMode === 'dial-in' && configuration.transports.includes('telephony_a_room_sip')
}

function head(any: boolean): string {
  return `"""What this project reads from the environment and from \`.env\`. Empty counts as not set."""

import os
from pathlib import Path
${any ? 'from typing import Any\n' : ''}
from botcli import SetupError
from dotenv import load_dotenv

#: Without these there is no call. \`.env.example\` says where to get each.
`
}

const CHECK = `

class MissingSettings(SetupError):
    """Names everything that is missing at once."""


def check_settings(*names: str) -> None:
    """Raises an error that names all of these that are not set; by default, of all required."""
    missing = [name for name in names or REQUIRED if name not in os.environ]
    if missing:
        raise MissingSettings(
            f"these variables are not set: {', '.join(missing)}. "
            "They belong into .env beside the bot; without one, begin with a copy of .env.example, "
            "which says where to get each. In the cloud they belong into the secret set."
        )
`

const REQUIRED = `

def required(name: str) -> str:
    """A variable that check_settings() has seen."""
    return os.environ[name]
`

const EITHER = `

def either(name: str, fallback: str) -> str:
    """A variable, or else this."""
    return os.environ.get(name, fallback)
`

const OPTIONAL = `

def optional(name: str) -> str | None:
    """A variable, or nothing."""
    return os.environ.get(name)
`

const GIVEN = `

def given(**variables: str) -> dict[str, Any]:
    """Arguments for the variables that are set. For the others the library's defaults hold."""
    return {name: os.environ[key] for name, key in variables.items() if key in os.environ}
`

const GIVEN_WHOLE = `

def given_whole(**variables: str) -> dict[str, Any]:
    """The same for whole numbers."""
    return {name: int(os.environ[key]) for name, key in variables.items() if key in os.environ}
`

const GIVEN_ONE_OF = `

def given_one_of(allowed: list[str], **variables: str) -> dict[str, Any]:
    """The same for variables that have only a few values."""
    arguments = {}
    for name, key in variables.items():
        value = os.environ.get(key)
        if value is None:
            continue
        if value not in allowed:
            raise ValueError(f"{key} is {value}; it must be one of: {', '.join(allowed)}")
        arguments[name] = value
    return arguments
`

const END = `

def _forget_empty() -> None:
    """Libraries that look for themselves are to see the same."""
    for name in [name for name, value in os.environ.items() if not value.strip()]:
        del os.environ[name]


_forget_empty()
load_dotenv(Path(__file__).with_name(".env"))
_forget_empty()
`
