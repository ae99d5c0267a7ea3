import type { Configuration, ServiceCategory } from '../configuration.ts'
import { TRANSPORT_KINDS } from '../options/transports.ts'
import type { EnvVariable } from '../plan.ts'
import { serviceById } from '../services/index.ts'
import { howItWorks, howToChange } from './change-guide.ts'
import { type ProjectFacts, scenarioNames } from './project-facts.ts'
import { howToTest } from './test-guide.ts'

/** The guide of one project, without its first line. */
export function projectGuide(facts: ProjectFacts): string {
  return [
    whatItIs(facts.configuration),
    RULES,
    whereThingsAre(facts),
    howToRun(facts),
    keys(facts),
    howItWorks(facts),
    howToChange(facts),
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

const RULES = `## Rules

1. Change this project; do not build another one. It runs as it is.
2. Look a class, a parameter or a frame up before you write it. The installed package is the truth:
   \`server/.venv/lib/python3*/site-packages/pipecat\`. What you remember of \`pipecat-ai\` may be of another version.
3. One change at a time. After each: test, run, listen ("Test it" below).
4. Ask the user for keys and phone numbers. Never invent, print or commit one.
`

function whatItIs(configuration: Configuration): string {
  const { names, botType, mode, transports } = configuration
  const services = (['stt', 'llm', 'tts', 'realtime', 'video'] as const).flatMap((category) => {
    const id = configuration[category]
    return id === undefined ? [] : [`| \`${id}\` | ${serviceById(id)?.label ?? id} | ${WORK[category]} |`]
  })
  const ways = transports.map((id) => `\`${id}\` (${TRANSPORT_KINDS[id].label})`)
  return `# ${names.title}: guide for coding agents

This project is a ${botType === 'web' ? 'voice bot for browsers and apps' : 'voice bot for phone calls'}, made by \`botcli init\`. It is written in Python with
\`pipecat-ai\` and runs on the botcli runner. Transports: ${ways.join(', ')}.
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
  'server/bot.py': 'the bot: who it is, services, pipeline, what happens when a caller comes and goes',
  'server/settings.py': 'reads the environment; names all missing keys at once',
  'server/server.py': 'takes or starts phone calls and starts a bot for each',
  'server/tests/test_bot.py': 'that the bot loads; needs no key',
  'server/pyproject.toml': 'dependencies; settings of the linter and the type checker',
  'server/.env.example': 'every variable that the code reads; copy it to `.env`',
  'server/Dockerfile': 'the image for the cloud',
  'server/deploy.toml': 'the agent in the cloud: name, secrets, scaling',
  'client/package.json': 'the client in the browser: `npm run dev`, `npm run build`, `npm run lint`',
  '.botcli.json': 'the answers that this project was made from; do not edit it',
}

function whereThingsAre(facts: ProjectFacts): string {
  const paths = [...facts.files.map(({ path }) => path), '.botcli.json']
  const rows = Object.entries(FILE_NOTES).filter(([path]) => paths.includes(path))
  const scenarios = scenarioNames(facts).map((name) => `\`server/evals/${name}\``)
  return `## Where things are

| file | what it is |
|---|---|
${rows.map(([path, note]) => `| \`${path}\` | ${note} |`).join('\n')}
${scenarios.length === 0 ? '' : `| ${scenarios.join(', ')} | scenarios that test the bot |\n`}`
}

function howToRun({ steps }: ProjectFacts): string {
  const blocks = steps.map(
    ({ title, commands }) =>
      `${title}:\n${commands.length === 0 ? '' : `\n\`\`\`sh\n${commands.join('\n')}\n\`\`\`\n`}`,
  )
  return `## Run it

Commands are given from this folder on. \`botcli run\` does not end by itself: start it in the background. It takes each saved change into
the next call.

${blocks.join('\n')}`
}

function keys({ variables, configuration }: ProjectFacts): string {
  const secrets = configuration.deployToCloud ? ' and into the secret set of the cloud' : ''
  return `## Keys

${requiredKeys(variables.filter(({ required }) => required))}

\`server/.env.example\` has all variables, the optional ones with their defaults; where a model or a voice is among them, that is the place
to change it. An empty variable counts as not set. If your code reads a new variable, add it to \`server/.env.example\`${secrets}, and if it
cannot do without, to \`REQUIRED\` in \`server/settings.py\`.
`
}

function requiredKeys(required: readonly EnvVariable[]): string {
  if (required.length === 0) return 'No key is required.'
  return `The bot does not start without these. They belong into \`server/.env\`, which git ignores.

| variable | where to get it |
|---|---|
${required.map(({ name, hint }) => `| \`${name}\` | ${hint} |`).join('\n')}`
}

function howToDeploy({ names, noiseFilter }: Configuration): string {
  return `## Deploy it

\`server/deploy.toml\` describes the agent \`${names.agent}\`, and \`server/Dockerfile\` makes its image, in which the same runner runs the bot:

\`\`\`sh
botcli secrets set ${names.agent}-secrets --file server/.env
botcli deploy
botcli agent logs ${names.agent}
\`\`\`

Deploy only when you are asked to: it changes what callers get. \`botcli deploy\` ends with 0 only when the agent takes sessions with the new version; if it does not start,
the bot's traceback is in the output, and \`botcli agent rollback ${names.agent}\` goes back. \`--json\` prints a line for each event. Keys go into the secret set that \`server/deploy.toml\` names, never into
the image. The same code runs here and there. \`ENV\` is \`local\` only under the development runner; leave it out of the secrets.
${noiseFilter ? 'The noise filter is a part of the bot, here and in the cloud.\n' : ''}`
}
