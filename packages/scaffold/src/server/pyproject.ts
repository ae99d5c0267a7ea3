import type { Configuration } from '../configuration.ts'
import { type Traits, traitsOf } from './traits.ts'
import { hasCallServer } from './variables.ts'
import { wheelName } from './wheel.ts'

/** The versions of the library that generated code is written for. */
const LIBRARY = { name: 'pipecat-ai', versions: '>=1.14.0,<2' } as const

/** `pyproject.toml`: what the bot needs in production, and in groups what its developers need. */
export function pyproject(configuration: Configuration): string {
  const traits = traitsOf(configuration)
  const wheel = `wheels/${wheelName()}`
  const evals = configuration.evals
    ? `# What runs the evals; the bot itself does without. \`uv sync --group evals\` installs it.
${list('evals', [requirement(['evals', 'runner', 'websocket'])])}`
    : ''
  return `[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "${configuration.names.python}"
version = "0.1.0"
description = "A voice bot"
requires-python = ">=${traits.python}"
dependencies = [
    "botcli @ {root:uri}/${wheel}",
${dependencies(configuration, traits)
  .map((dependency) => `    "${dependency}",\n`)
  .join('')}]

[dependency-groups]
${list('dev', ['pyright>=1.1.404,<2', 'ruff>=0.12.11,<1'])}${evals}
[tool.hatch.metadata]
allow-direct-references = true

# A bot runs where it lies, so nothing but its dependencies is installed.
[tool.hatch.build.targets.wheel]
bypass-selection = true

# The same file once more, so that uv.lock names it by its place in the project.
[tool.uv.sources]
botcli = { path = "${wheel}" }

[tool.ruff]
line-length = 100

[tool.ruff.lint]
select = ["B", "E4", "E7", "E9", "F", "I", "UP"]

[tool.pyright]
typeCheckingMode = "basic"
venvPath = "."
venv = ".venv"
`
}

function list(name: string, requirements: readonly string[]): string {
  return `${name} = [\n${requirements.map((text) => `    "${text}",\n`).join('')}]\n`
}

function dependencies(configuration: Configuration, traits: Traits): readonly string[] {
  return [
    ...(traits.sharesSession || traits.callFlow?.by === 'sip' || hasCallServer(traits)
      ? ['aiohttp>=3.11,<4']
      : []),
    'loguru>=0.7,<1',
    ...(configuration.observability ? ['opentelemetry-exporter-otlp-proto-http>=1.33,<2'] : []),
    requirement(extrasOf(configuration, traits)),
    'python-dotenv>=1,<2',
  ]
}

/** The parts of the library that the bot needs. Ours are the wires, unless it brings its own. */
function extrasOf({ noiseFilter, observability }: Configuration, traits: Traits): readonly string[] {
  return [
    'silero',
    ...traits.services.flatMap(({ extras }) => extras),
    ...(traits.inRooms ? ['daily'] : []),
    ...(traits.libraryWires ? ['runner', 'webrtc', 'websocket'] : []),
    ...(noiseFilter ? ['rnnoise'] : []),
    ...(observability ? ['tracing'] : []),
  ]
}

function requirement(extras: readonly string[]): string {
  return `${LIBRARY.name}[${[...new Set(extras)].sort().join(',')}]${LIBRARY.versions}`
}
