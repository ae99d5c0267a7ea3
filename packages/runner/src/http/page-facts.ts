import { callCommand, shellWord, TRANSPORTS, type TransportId } from '@botcli/protocol'
import type { RunnerConfig } from '../config.ts'
import { DIALIN_PATH } from '../dialin/dialin.ts'
import { WHATSAPP_PATH } from '../whatsapp/whatsapp-webhook.ts'

/** Something that a person copies or opens to use a way. */
export interface WayStep {
  readonly kind: 'command' | 'address' | 'link'
  readonly label: string
  readonly text: string
}

/** What a way cannot do without. */
export interface WayNeeds {
  /** The name of it. */
  readonly what: string
  /** What to do, in a sentence. */
  readonly how: string
}

/** One way to the bot besides the page itself. What is to be typed stands between backticks. */
export interface Way {
  readonly id: TransportId | 'dialin' | 'whatsapp'
  readonly label: string
  readonly state: 'ready' | 'needs'
  /** There when the state is `needs`. */
  readonly needs?: WayNeeds
  /** What else is worth knowing. */
  readonly notes: readonly string[]
  readonly steps: readonly WayStep[]
}

/** What the page is told by the document that loads it, because a browser may not be allowed to ask. */
export interface PageFacts {
  readonly transports: readonly TransportId[]
  /** Whether requests of the page itself will be served. */
  readonly originAllowed: boolean
  readonly ways: readonly Way[]
}

/** What the facts are made of. */
export interface PageFactsInput {
  readonly config: RunnerConfig
  /** The transports that are on. */
  readonly transports: readonly TransportId[]
  /** The address of `/ws`, as others reach it. */
  readonly wsUrl: string
  /** Where the page was loaded from; undefined when its request did not say so in a usable way. */
  readonly origin: string | undefined
  readonly originAllowed: boolean
}

/** Stands for a name that only the user knows. */
const SOME_NAME = 'your.public.name'

const WEBHOOK_SECRETS = {
  telephony_a: { key: 'a', variable: 'TELEPHONY_A_AUTH_TOKEN' },
  telephony_b: { key: 'b', variable: 'TELEPHONY_B_PUBLIC_KEY' },
  telephony_c: { key: 'c', variable: 'TELEPHONY_C_AUTH_TOKEN' },
} as const

const CREDENTIALS = { telephony_a: 'a', telephony_b: 'b', telephony_c: 'c' } as const

/** Says what is on, and how to try each of it. */
export function pageFacts(input: PageFactsInput): PageFacts {
  const { transports, originAllowed, origin } = input
  return { transports, originAllowed, ways: origin === undefined ? [] : waysOf({ ...input, origin }) }
}

type Known = PageFactsInput & { readonly origin: string }

function waysOf(input: Known): readonly Way[] {
  const { config, transports } = input
  const ways = transports.flatMap((id) => {
    if (TRANSPORTS[id].telephony) return [phoneWay(id, input)]
    if (id === 'room') return [roomWay(input)]
    return id === 'websocket' ? [websocketWay(input)] : []
  })
  if (config.dialin) ways.push(dialinWay(input))
  if (config.whatsapp) ways.push(whatsappWay(input))
  return ways
}

function phoneWay(id: TransportId, { config, wsUrl, origin }: Known): Way {
  const { label } = TRANSPORTS[id]
  const steps: WayStep[] = [
    {
      kind: 'command',
      label: 'Call it without a phone',
      text: callCommand(id, { command: config.command, url: origin, origin: config.allowedOrigins[0] }),
    },
    { kind: 'address', label: 'Media stream', text: wsUrl },
  ]
  if (config.transport === id) {
    steps.push({
      kind: 'address',
      label: 'Webhook for calls (POST)',
      text: `${webhookOrigin(config, origin)}/`,
    })
  }
  return {
    id,
    label,
    state: 'ready',
    notes: [...originNotes(id, config), ...reachNotes(id, config, wsUrl), ...hangUpNotes(id, config)],
    steps,
  }
}

/** A carrier finds us by a public name; our answer to its webhook is there for one selected carrier. */
function reachNotes(id: TransportId, { transport }: RunnerConfig, wsUrl: string): readonly string[] {
  const { label, needsProxy } = TRANSPORTS[id]
  const select = needsProxy && transport !== id ? [`-t ${id}`] : []
  const name = wsUrl.startsWith('wss:') ? [] : [`-x ${SOME_NAME}`]
  const options = [...select, ...name]
  return options.length === 0 ? [] : [`To answer calls from ${label}, start with \`${options.join(' ')}\`.`]
}

/** Carriers show no origin, so a list of origins keeps them out unless they prove themselves otherwise. */
function originNotes(id: TransportId, { allowedOrigins, telephony }: RunnerConfig): readonly string[] {
  if (allowedOrigins.length === 0) return []
  const start =
    'Because of `--allowed-origins` a call needs an address of its own, which `POST /start` gives for a `body`'
  const signs = isKeyOf(WEBHOOK_SECRETS, id) ? WEBHOOK_SECRETS[id] : undefined
  if (signs === undefined) return [`${start}.`]
  const signed = telephony.webhookSecrets?.[signs.key] !== undefined
  return [`${start}, or a signed webhook call${signed ? '' : `: set \`${signs.variable}\``}.`]
}

function hangUpNotes(id: TransportId, { telephony, env }: RunnerConfig): readonly string[] {
  if (!isKeyOf(CREDENTIALS, id) || telephony[CREDENTIALS[id]] !== undefined) return []
  const missing = TRANSPORTS[id].credentials.filter((name) => !env[name]).map((name) => `\`${name}\``)
  return [`To hang up when your bot is done, set ${missing.join(' and ')}.`]
}

function roomWay({ config, origin }: Known): Way {
  const { label } = TRANSPORTS.room
  const needs = missingKey(config)
  if (needs !== undefined) return { id: 'room', label, state: 'needs', needs, notes: [], steps: [] }
  const [listed] = config.allowedOrigins
  const curl = [
    `curl ${shellWord(`${origin}/start`)}`,
    ...(listed === undefined ? [] : [`-H origin:${listed}`]),
    '-H content-type:application/json',
    `-d '{"transport":"room"}'`,
  ].join(' \\\n')
  return {
    id: 'room',
    label,
    state: 'ready',
    notes: [
      'The provider has no SDK for Node: your bot gets `roomUrl` and `token` for a program that joins.',
    ],
    steps: [
      { kind: 'link', label: 'Open a fresh room', text: `${origin}/daily` },
      { kind: 'command', label: 'Start one from your own code', text: curl },
    ],
  }
}

function websocketWay({ config, wsUrl }: Known): Way {
  const address = wsUrl.replace(/\/ws$/, '/ws-client')
  const notes = config.wsAuth === 'token' ? ['Clients need the token that `POST /start` gives them.'] : []
  return {
    id: 'websocket',
    label: TRANSPORTS.websocket.label,
    state: 'ready',
    notes,
    steps: [{ kind: 'address', label: 'For your own client', text: address }],
  }
}

function dialinWay({ config, origin }: Known): Way {
  const label = 'Webhook for the room provider (POST)'
  const step = { kind: 'address', label, text: `${webhookOrigin(config, origin)}${DIALIN_PATH}` } as const
  const needs =
    missingKey(config) ?? missingSecret(config) ?? missingName(config, origin, 'The room provider')
  return { id: 'dialin', label: 'Dial-in', ...stateOf(needs), notes: [], steps: [step] }
}

function whatsappWay({ config, origin }: Known): Way {
  const label = 'Callback URL of the webhook'
  const step = { kind: 'address', label, text: `${webhookOrigin(config, origin)}${WHATSAPP_PATH}` } as const
  const needs = missingName(config, origin, 'WhatsApp')
  return { id: 'whatsapp', label: 'WhatsApp calls', ...stateOf(needs), notes: [], steps: [step] }
}

function stateOf(needs: WayNeeds | undefined): Pick<Way, 'state' | 'needs'> {
  return needs === undefined ? { state: 'ready' } : { state: 'needs', needs }
}

function missingKey({ room }: RunnerConfig): WayNeeds | undefined {
  if (room.apiKey !== undefined) return undefined
  const how = 'Set `ROOM_API_KEY` in the environment or in the `.env` beside your bot, and start again.'
  return { what: 'ROOM_API_KEY', how }
}

function missingSecret({ allowedOrigins, room }: RunnerConfig): WayNeeds | undefined {
  if (allowedOrigins.length === 0 || room.dialinSecret !== undefined) return undefined
  const how = 'The room provider shows no origin, so it has to sign: set `ROOM_DIALIN_SECRET`.'
  return { what: 'ROOM_DIALIN_SECRET', how }
}

function missingName(config: RunnerConfig, origin: string, who: string): WayNeeds | undefined {
  if (httpsOrigin(config, origin) !== undefined) return undefined
  return { what: '--proxy', how: `${who} calls a public https address. Start with \`-x ${SOME_NAME}\`.` }
}

/** Where providers send their webhooks, or how that would look. */
function webhookOrigin(config: RunnerConfig, origin: string): string {
  return httpsOrigin(config, origin) ?? `https://${SOME_NAME}`
}

function httpsOrigin({ proxy }: RunnerConfig, origin: string): string | undefined {
  if (proxy !== undefined) return `https://${proxy}`
  return origin.startsWith('https:') ? origin : undefined
}

function isKeyOf<T extends object>(table: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(table, key)
}
