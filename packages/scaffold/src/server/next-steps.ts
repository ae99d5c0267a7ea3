import type { Configuration } from '../configuration.ts'
import type { NextStep } from '../plan.ts'
import { type Carrier, type Traits, traitsOf } from './traits.ts'
import { hasCallServer, projectVariables } from './variables.ts'

/** Where the runner's own page is. */
export const PAGE_URL = 'http://localhost:7860'
/** What stands for the reader's public host name. */
export const PUBLIC_HOST = 'my-bot.example.com'

/** How evals find a runner that does not listen where it usually does. */
export const ANOTHER_PORT = '--bot-url ws://localhost:PORT/ws'

/** What to do with a fresh project, in this order. */
export function nextSteps(configuration: Configuration): readonly NextStep[] {
  const traits = traitsOf(configuration)
  const needed = projectVariables(configuration).filter(({ required }) => required)
  return [
    {
      title:
        needed.length === 0
          ? 'Settings; none has to be filled in'
          : `Settings; then fill in ${needed.map(({ name }) => name).join(', ')} in server/.env`,
      commands: ['cp server/.env.example server/.env'],
    },
    { title: 'Dependencies of the bot', commands: [`(cd server && ${syncCommand(configuration)})`] },
    ...ollama(traits),
    run(traits),
    ...withoutPhone(traits),
    ...(hasCallServer(traits) ? [callServer(traits)] : []),
    ...client(configuration),
    ...(configuration.evals
      ? [
          {
            title: `A first eval, while the bot runs; for one on another port add ${ANOTHER_PORT}`,
            commands: [
              `(cd server && uv run --group evals pipecat eval run evals/${firstEval(configuration)} -v)`,
            ],
          },
        ]
      : []),
  ]
}

/** What installs everything that the developer of this project needs. */
export function syncCommand({ evals }: Configuration): string {
  return evals ? 'uv sync --group evals' : 'uv sync'
}

/** The scenario to begin with. */
export function firstEval({ mode }: Configuration): string {
  return mode === 'realtime' ? 'starter_audio.yaml' : 'starter_text.yaml'
}

/** The one service whose model has to be fetched by hand. */
function ollama({ llm }: Traits): readonly NextStep[] {
  if (llm.id !== 'ollama_llm') return []
  const model = llm.settings?.model
  const name = (model?.kind === 'optional' && model.libraryDefault) || 'OLLAMA_MODEL'
  return [{ title: 'The language model', commands: [`ollama pull ${name}`] }]
}

function run(traits: Traits): NextStep {
  const { callFlow, plain, carriers, onlyCarrier, inRooms } = traits
  if (callFlow?.by === 'pstn' && callFlow.mode === 'dial-in') {
    return {
      title: `The bot; point the dial-in webhook of your number at https://${PUBLIC_HOST}/daily-dialin-webhook`,
      commands: ['botcli run --dialin'],
    }
  }
  if (callFlow !== undefined) return { title: 'The bot, for the call server below', commands: ['botcli run'] }
  if (onlyCarrier !== undefined) return { title: 'The bot', commands: ['botcli run'] }
  if (carriers.length > 0) {
    return {
      title: 'The bot, for phones and for the other transports; README.md says how to connect a carrier',
      commands: ['botcli run'],
    }
  }
  if (plain.includes('webrtc')) return { title: `The bot; then open ${PAGE_URL}`, commands: ['botcli run'] }
  if (inRooms)
    return {
      title: `The bot; then open ${PAGE_URL}/daily, which leads into a room with it`,
      commands: ['botcli run'],
    }
  return { title: `The bot; then open ${PAGE_URL}`, commands: ['botcli run -t websocket'] }
}

/** A call that needs no phone, no account with the carrier and no public name; then the real thing. */
function withoutPhone({ carriers: [carrier], onlyCarrier }: Traits): readonly NextStep[] {
  if (carrier === undefined) return []
  const call = {
    title: 'A first call, in another terminal; it needs no phone and no carrier',
    commands: [`botcli call --as ${carrier}`],
  }
  if (onlyCarrier === undefined) return [call]
  const proxy = onlyCarrier === 'telephony_d' ? '' : ` -x ${PUBLIC_HOST}`
  return [call, { title: carrierTitle(onlyCarrier), commands: [`botcli run -t ${onlyCarrier}${proxy}`] }]
}

function carrierTitle(carrier: Carrier): string {
  return carrier === 'telephony_d'
    ? `Real calls, instead; give the carrier's Voicebot applet wss://${PUBLIC_HOST}/ws, the public name of your machine`
    : `Real calls, instead; point the webhook of your number at POST https://${PUBLIC_HOST}/, the public name of your machine`
}

function callServer({ callFlow }: Traits): NextStep {
  const title =
    callFlow?.mode === 'dial-in'
      ? `The call server; point the webhook of your number at POST https://${PUBLIC_HOST}/call`
      : 'The call server, in another terminal; POST /dialout starts a call'
  return { title, commands: ['(cd server && uv run server.py)'] }
}

function client(configuration: Configuration): readonly NextStep[] {
  if (configuration.clientFramework === 'none') return []
  return [
    {
      title: `The client, in another terminal; then open ${clientUrl(configuration)}`,
      commands: ['(cd client && npm ci && npm run dev)'],
    },
  ]
}

/** Where the page of the client is while one works on it. */
export function clientUrl({ clientServer }: Configuration): string {
  return `http://localhost:${clientServer === 'nextjs' ? 3000 : 5173}`
}
