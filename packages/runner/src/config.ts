import type { TransportId } from '@botcli/protocol'

/** Whether each bot runs in a process of its own, or in the runner's for breakpoints. */
export const ISOLATIONS = ['process', 'inline'] as const
export type Isolation = (typeof ISOLATIONS)[number]

/** Whether a WebSocket client must bring the token that `/start` gave it. */
export const WS_AUTHS = ['none', 'token'] as const
export type WsAuth = (typeof WS_AUTHS)[number]

/** Whether Python bots are forked from a process that has loaded the code, or each is started from the beginning. */
export const PYTHON_STARTS = ['fork', 'spawn'] as const
export type PythonStart = (typeof PYTHON_STARTS)[number]

/** How Python bots are run. */
export interface PythonConfig {
  /** The interpreter: a path, or a name on the path of programs. Without it the project's own is found. */
  readonly path?: string
  readonly start: PythonStart
}

/** A range of UDP ports, both ends included. */
export interface PortRange {
  readonly first: number
  readonly last: number
}

/** How to reach the room provider. */
export interface RoomConfig {
  readonly apiKey?: string
  readonly sampleRoomUrl?: string
  readonly apiUrl?: string
  /** With what the provider signs its dial-in calls, in base64. Without it every sender is believed. */
  readonly dialinSecret?: string
}

/** What proves that a carrier's webhook call comes from it. A carrier that is not here is believed. */
export interface CarrierSecrets {
  readonly a?: { readonly authToken: string }
  /** The provider's Ed25519 key in base64, from its portal. */
  readonly b?: { readonly publicKey: string }
  readonly c?: { readonly authToken: string }
}

/** Where the carriers' REST APIs are. */
export type CarrierUrls = Readonly<Record<'a' | 'b' | 'c', string>>

/** What each carrier needs for hanging up. A carrier is here only when it has all of it. */
export interface TelephonyConfig {
  readonly a?: { readonly accountId: string; readonly authToken: string }
  readonly b?: { readonly apiKey: string }
  readonly c?: { readonly authId: string; readonly authToken: string }
  readonly webhookSecrets?: CarrierSecrets
  /** For accounts in another region than the default one. */
  readonly apiUrls?: Partial<CarrierUrls>
}

/** What the messaging provider knows us by. */
export interface WhatsappConfig {
  /** Signs what the provider sends. */
  readonly appSecret: string
  /** The number that is called. */
  readonly phoneNumberId: string
  /** For what we ask of the provider. */
  readonly token: string
  /** What the provider shows once. */
  readonly verificationToken: string
  readonly apiUrl?: string
}

/** Everything that a runner has to know, checked and complete. */
export interface RunnerConfig {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** The one transport that is served; all of them when it is left out. */
  readonly transport?: TransportId
  /** Public host name, with a port if it has one, without a scheme. */
  readonly proxy?: string
  /** Origins as browsers spell them. Empty allows all. */
  readonly allowedOrigins: readonly string[]
  readonly esp32: boolean
  readonly direct: boolean
  readonly dialin: boolean
  /** Whether evals, which may rewrite what a bot was told, are let in from other machines, too. */
  readonly evals: boolean
  /** Calls of the messaging app are taken when it is there. */
  readonly whatsapp?: WhatsappConfig
  readonly verbose: boolean
  readonly maxSessions: number
  readonly maxSessionDurationMs: number
  /** How many guests wait with the user's code loaded. */
  readonly warm: number
  /** A bot that grows beyond this is ended. */
  readonly maxMemoryBytes: number
  readonly isolation: Isolation
  readonly python: PythonConfig
  readonly wsAuth: WsAuth
  readonly icePorts?: PortRange
  readonly announcedAddress?: string
  readonly botPath: string
  readonly botFolder: string
  /** The built browser page; without it `/client` cannot be served. */
  readonly pageDir?: string
  /** How this program is called where its user is, for texts that say what to call next. */
  readonly command: string
  /** What guests get: the real environment over the bot's `.env`. */
  readonly env: Readonly<Record<string, string>>
  readonly room: RoomConfig
  readonly telephony: TelephonyConfig
}

/** What holds when nobody says otherwise. */
export const DEFAULTS = {
  host: 'localhost',
  port: 7860,
  allowedOrigins: [],
  esp32: false,
  direct: false,
  dialin: false,
  evals: false,
  verbose: false,
  maxSessions: 50,
  maxSessionDurationMs: 2 * 60 * 60 * 1000,
  warm: 2,
  maxMemoryBytes: 2 * 1024 * 1024 * 1024,
  isolation: 'process',
  python: { start: 'fork' },
  wsAuth: 'none',
  command: 'botcli',
  room: {},
  telephony: { webhookSecrets: {}, apiUrls: {} },
} as const satisfies Partial<RunnerConfig>
