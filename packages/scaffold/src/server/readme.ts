import type { Configuration, ScaffoldTransport } from '../configuration.ts'
import { ANOTHER_PORT, clientUrl, firstEval, nextSteps, PAGE_URL } from './next-steps.ts'
import { deploymentSection } from './readme-deployment.ts'
import { featureSections } from './readme-features.ts'
import { phoneSections } from './readme-phones.ts'
import { type Traits, traitsOf } from './traits.ts'
import { hasCallServer, projectVariables } from './variables.ts'

const TRANSPORT_NAMES: Readonly<Record<ScaffoldTransport, string>> = {
  room: 'rooms (Daily)',
  webrtc: 'WebRTC',
  websocket: 'WebSocket',
  telephony_a: 'phone (Twilio)',
  telephony_b: 'phone (Telnyx)',
  telephony_c: 'phone (Plivo)',
  telephony_d: 'phone (Exotel)',
  room_pstn: 'phone by rooms (Daily PSTN)',
  telephony_a_room_sip: 'phone by rooms (Twilio SIP and Daily)',
}

/** `README.md`: what this very project is, and what to do with it. */
export function readme(configuration: Configuration): string {
  const traits = traitsOf(configuration)
  const sections = [
    title(configuration, traits),
    start(configuration),
    ...talk(configuration, traits),
    keys(configuration),
    ...phoneSections(traits),
    ...(configuration.evals ? [evals(configuration, traits)] : []),
    ...(configuration.clientFramework === 'none' ? [] : [client(configuration)]),
    ...featureSections(configuration, traits),
    structure(configuration, traits),
    ...(configuration.deployToCloud ? [deploymentSection(configuration, traits)] : []),
    AGENT,
  ]
  return `${sections.map((section) => section.trim()).join('\n\n')}\n`
}

function title({ names, botType, mode, transports }: Configuration, { services }: Traits): string {
  return `# ${names.title.replace(/\s+/g, ' ').trim()}

A voice bot, made with \`botcli init\`.

| | |
|---|---|
| kind | ${botType}, ${mode === 'cascade' ? 'a service each for hearing, thinking and speaking' : 'one service for hearing and speaking'} |
| callers come by | ${transports.map((transport) => TRANSPORT_NAMES[transport]).join(', ')} |
| services | ${services.map(({ label }) => label).join(', ')} |`
}

function start(configuration: Configuration): string {
  const steps = nextSteps(configuration).map(({ title, commands }, index) => {
    const code = commands.map((command) => `   ${command}`).join('\n')
    return `${index + 1}. ${title}:\n\n   \`\`\`\n${code}\n   \`\`\``
  })
  return `## Start

${steps.join('\n\n')}

You need [uv](https://docs.astral.sh/uv/) and \`botcli\`. \`uv run bot.py\` in \`server/\` is the same as \`botcli run\`.

Try the code without any key: \`cd server && uv run python -m unittest discover -s tests\`.

${withoutUv(configuration)}`
}

/** The same with what Python itself has. */
function withoutUv(configuration: Configuration): string {
  const { python } = traitsOf(configuration)
  const { evals } = configuration
  const program = python === '3.12' ? 'python3.12' : 'python3'
  return `Without uv, with Python ${python} or newer, in \`server/\` (\`botcli run\` finds this environment by itself):

\`\`\`
${program} -m venv .venv
.venv/bin/pip install .${evals ? ' "pipecat-ai[evals,runner,websocket]"' : ''}
.venv/bin/python -m unittest discover -s tests
${evals ? `.venv/bin/pipecat eval run evals/${firstEval(configuration)} -v\n` : ''}\`\`\``
}

/** How to reach a bot without a phone. */
function talk({ transports }: Configuration, { plain, greets }: Traits): readonly string[] {
  const waits = greets ? '' : '\n\nThe bot waits for your first word.'
  const ways = [
    ...(plain.includes('webrtc') ? [`- **WebRTC**: open ${PAGE_URL}, the page of the runner.`] : []),
    ...(transports.includes('room')
      ? [
          `- **Rooms**: with \`ROOM_API_KEY\` set, open ${PAGE_URL}/daily. It makes a fresh room and leads you there.`,
        ]
      : []),
    ...(plain.includes('websocket')
      ? [
          '- **WebSocket**: choose it on the page of the runner. Other clients ask `POST /start` with `{"transport": "websocket"}`, and connect to the `wsUrl` of its answer.',
        ]
      : []),
  ]
  return ways.length === 0 ? [] : [`## Talk to it\n\n${ways.join('\n')}${waits}`]
}

function keys(configuration: Configuration): string {
  const rows = projectVariables(configuration).map(
    ({ name, required, fallback, hint }) =>
      `| \`${name}\` | ${required ? 'required' : fallback === undefined ? 'optional' : `\`${fallback}\``} | ${hint.replaceAll('|', '\\|')} |`,
  )
  if (rows.length === 0) return '## Settings\n\nThere are none: every service runs on this machine.'
  return `## Settings

They stand in \`server/.env\`; real variables of the environment win, and an empty one counts as not set. The bot names all that are
missing when it starts.

| variable | default | |
|---|---|---|
${rows.join('\n')}`
}

function evals(configuration: Configuration, { greets }: Traits): string {
  const spoken = configuration.mode === 'realtime'
  const files = spoken
    ? '| `starter_audio.yaml` | spoken words and answers; fetches its models at the first run |'
    : `| \`starter_text.yaml\` | typed words and answers; needs no judge |
| \`starter_judged.yaml\` | a language model judges the answers, by default a local Ollama |
| \`starter_audio.yaml\` | spoken words and answers; fetches its models at the first run |`
  return `## Evals

Conversations that check what the bot does, in \`server/evals/\`. Each one gets a fresh bot. ${greets ? 'They begin with the greeting.' : 'The bot waits for the first word, so they begin with the user.'}

\`\`\`
botcli run                    # in one terminal, and in another:
(cd server && uv run --group evals pipecat eval run evals/${firstEval(configuration)} -v)
\`\`\`

| file | |
|---|---|
${files}

The evals look for the bot on port 7860. For one on another port, add \`${ANOTHER_PORT}\`.
The tools for it are in the dependency group \`evals\`, so that they are not in production.`
}

function client(configuration: Configuration): string {
  const { clientFramework, clientServer } = configuration
  const kind =
    clientFramework === 'react'
      ? clientServer === 'nextjs'
        ? 'React and Next.js'
        : 'React and Vite'
      : 'Vite, without a framework'
  return `## Client

\`client/\` is a page to talk to the bot, with ${kind}. It talks to the runner at http://localhost:7860; \`client/.env.example\` says
how to change that.

\`\`\`
cd client
npm ci
npm run dev      # while you work, at ${clientUrl(configuration)}
npm run build    # for the public
npm run lint
\`\`\``
}

function structure(configuration: Configuration, traits: Traits): string {
  const rows = [
    ['server/bot.py', 'the bot'],
    ['server/settings.py', 'how it reads its variables'],
    ...(hasCallServer(traits) ? [['server/server.py', 'the call server']] : []),
    ['server/pyproject.toml', 'dependencies'],
    ['server/wheels/', 'the Python package of botcli'],
    ['server/.env.example', 'variables, and where to get them'],
    ['server/tests/', 'a test that needs no key'],
    ...(configuration.evals ? [['server/evals/', 'evals']] : []),
    ...(configuration.deployToCloud
      ? [
          ['server/Dockerfile', 'the image for the cloud'],
          ['server/deploy.toml', 'how the cloud runs it'],
        ]
      : []),
    ...(configuration.clientFramework === 'none' ? [] : [['client/', 'the page']]),
    ['AGENTS.md', 'how this project is built, run, tested and deployed, for coding agents'],
  ]
  return `## Files

| | |
|---|---|
${rows.map(([path, what]) => `| \`${path}\` | ${what} |`).join('\n')}`
}

const AGENT = `## Building with an AI coding agent

Open this folder with your coding agent. It finds \`AGENTS.md\` (and \`ASSISTANT.md\`, which imports it): how the project is built, run,
tested and deployed, and which services it has. Describe what your bot should do, with its first words and an example of a call, and let
the agent change \`server/bot.py\` step by step. \`botcli run\` takes each saved change into the next call.`
