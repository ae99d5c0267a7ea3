import type { Configuration, ServiceCategory } from '../configuration.ts'
import { TRANSPORT_KINDS } from '../options/transports.ts'
import type { EnvVariable, NextStep, PlannedFile } from '../plan.ts'
import { serviceById } from '../services/index.ts'

/** What a guide tells of, besides the configuration. */
export interface ProjectFacts {
  readonly configuration: Configuration
  readonly files: readonly PlannedFile[]
  readonly variables: readonly EnvVariable[]
  readonly steps: readonly NextStep[]
}

/** The guide of one project, without its first line. */
export function projectGuide(facts: ProjectFacts): string {
  return [
    whatItIs(facts.configuration),
    whereThingsAre(facts),
    howToRun(facts),
    keys(facts.variables),
    howItWorks(facts),
    howToChange(facts.configuration),
    howToTest(facts),
    ...(facts.configuration.deployToCloud ? [howToDeploy(facts.configuration)] : []),
  ].join('\n')
}

const WORK: Readonly<Record<ServiceCategory, string>> = {
  stt: 'speech to text',
  llm: 'language model',
  tts: 'text to speech',
  realtime: 'listens, thinks and speaks',
  video: 'video avatar',
}

function whatItIs(configuration: Configuration): string {
  const { names, botType, mode, transports } = configuration
  const services = (['stt', 'llm', 'tts', 'realtime', 'video'] as const).flatMap((category) => {
    const id = configuration[category]
    return id === undefined ? [] : [`| \`${id}\` | ${serviceById(id)?.label ?? id} | ${WORK[category]} |`]
  })
  const ways = transports.map((id) => `\`${id}\` (${TRANSPORT_KINDS[id].label})`)
  return `# ${names.title}: guide for coding agents

This project is a ${botType === 'web' ? 'voice bot for browsers and apps' : 'voice bot for phone calls'}, made by \`botcli init\`. It is written in Python with
\`pipecat-ai\` and runs on the botcli runner. Callers reach it by ${ways.join(', ')}.
${callDirection(configuration)}
It works in ${mode} mode${mode === 'cascade' ? ', one service after the other' : ', with one service for all'}:

| service | vendor | what it does |
|---|---|---|
${services.join('\n')}
`
}

function callDirection({ pstnMode, sipMode }: Configuration): string {
  const call = pstnMode ?? sipMode
  if (call === undefined) return ''
  return call === 'dial-in' ? 'People call the bot (dial-in).\n' : 'The bot calls people (dial-out).\n'
}

const FILE_NOTES: Readonly<Record<string, string>> = {
  'server/bot.py': 'the bot: services, pipeline, what happens when a caller comes and goes',
  'server/settings.py': 'reads the environment; names all missing keys at once',
  'server/server.py': 'takes or starts phone calls and starts a bot for each',
  'server/tests/test_bot.py': 'that the bot loads; needs no key',
  'server/pyproject.toml': 'dependencies',
  'server/.env.example': 'every variable that the code reads; copy it to `.env`',
  'server/Dockerfile': 'the image for the cloud',
  'server/deploy.toml': 'the agent in the cloud: name, secrets, scaling',
  'client/package.json': 'the client in the browser: `npm run dev`, `npm run build`, `npm run lint`',
  '.botcli.json': 'the answers that this project was made from; do not edit it',
}

function whereThingsAre({ files }: ProjectFacts): string {
  const paths = [...files.map(({ path }) => path), '.botcli.json']
  const rows = Object.entries(FILE_NOTES).filter(([path]) => paths.includes(path))
  const evals = paths.filter((path) => path.startsWith('server/evals/'))
  return `## Where things are

| file | what it is |
|---|---|
${rows.map(([path, note]) => `| \`${path}\` | ${note} |`).join('\n')}
${evals.length === 0 ? '' : `| ${evals.map((path) => `\`${path}\``).join(', ')} | scenarios that test the bot |\n`}`
}

function howToRun({ steps }: ProjectFacts): string {
  const blocks = steps.map(
    ({ title, commands }) =>
      `${title}:\n${commands.length === 0 ? '' : `\n\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`}`,
  )
  return `## Run it

Commands are given from this folder on.

${blocks.join('\n')}`
}

function keys(variables: readonly EnvVariable[]): string {
  const required = variables.filter((variable) => variable.required)
  const rows = required.map(({ name, hint }) => `| \`${name}\` | ${hint} |`)
  const list =
    rows.length === 0
      ? 'No key is required.'
      : `The bot does not start without these. Ask the user for them; never invent one, print one, or commit \`.env\`.

| variable | where to get it |
|---|---|
${rows.join('\n')}`
  return `## Keys

${list}

\`server/.env.example\` has all variables, the optional ones with their defaults. An empty variable counts as not set. If your code reads
a new variable, add it there.
`
}

function howItWorks({ configuration }: ProjectFacts): string {
  const middle =
    configuration.mode === 'cascade' ? ['stt', 'user context', 'llm', 'tts'] : ['user context', 'llm']
  const video = configuration.video === undefined ? [] : ['video']
  const pipeline = ['transport input', ...middle, ...video, 'transport output', 'assistant context']
  return `## How the bot works

The runner calls \`bot(args)\` in \`server/bot.py\` once for each caller, in a process of its own. It makes the transport by
\`create_transport\`, builds the pipeline and runs it until the caller leaves:

\`\`\`
${pipeline.join(' -> ')}
\`\`\`

- Data moves through the pipeline as frames. To make the bot do something, queue a frame; do not call methods of services.
- The context holds the conversation. The assistant's side of it comes after the output, so that it has what was really said.
- A caller may interrupt at any time. What was not yet spoken is dropped, and work of yours must survive that.
- Sessions share nothing. Open connections and files inside of \`bot\`, not when the module is imported.
`
}

function howToChange({ mode }: Configuration): string {
  return `## Change it

- Change what is here; do not build it anew. To see what other options give: \`botcli init --list-options\`, and
  \`botcli init other-folder …\` to compare. Non-interactive runs need every required option; \`--dry-run\` checks them and writes nothing.
- Look things up in the installed package (\`server/.venv/lib/python3*/site-packages/pipecat\`) before you use them. What you
  remember of \`pipecat-ai\` may be of another version.
- The bot's answers are spoken: no lists, no markup, no emoji, short sentences. Say so in its instruction, too.
- Tools are plain async functions with typed parameters and a doc comment${mode === 'cascade' ? '' : '; not every realtime service takes them'}. Keep them quick; the caller waits.
- A new service needs its extra of \`pipecat-ai\` in \`server/pyproject.toml\` and its variables in \`server/.env.example\`.
- This file and \`ASSISTANT.md\` can be refreshed by \`botcli init . --overwrite-guide\`.
`
}

function howToTest({ configuration, files }: ProjectFacts): string {
  const scenarios = files.map(({ path }) => path).filter((path) => path.startsWith('server/evals/'))
  const evals = configuration.evals
    ? `Scenarios are in \`server/evals/\` (${scenarios.map((path) => `\`${path.slice('server/evals/'.length)}\``).join(', ')}). Add one for each ability that you add, with checks that need
no judge first (\`text_contains\`, \`function_call\`), and run them after each change.`
    : 'This project has no evals yet. A project made with `--eval` has scenarios to start from and the transport entry that they need.'
  return `## Test it

1. \`(cd server && uv run python -m unittest discover -s tests)\` finds what is broken at once, without a key.
2. Run the bot and talk to it. \`botcli run\` serves a page at http://localhost:7860/client; ${configuration.botType === 'telephony' ? '`botcli call` plays a phone carrier, so that no phone is needed.' : 'its log has each session and how it ended.'}
3. ${evals}
`
}

function howToDeploy({ names, noiseFilter }: Configuration): string {
  return `## Deploy it

\`server/Dockerfile\` makes the image and \`server/deploy.toml\` describes the agent \`${names.agent}\`. Keys go into the secret set that it names, not into the image;
leave \`ENV\` out of it. The same code runs here and there: \`ENV\` is \`local\` only under the development runner.
${noiseFilter ? 'The noise filter is on in the cloud only.\n' : ''}`
}
