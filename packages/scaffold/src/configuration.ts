/** The kinds of bot. */
export const BOT_TYPES = ['web', 'telephony'] as const
export type BotType = (typeof BOT_TYPES)[number]

/** How a bot listens, thinks and speaks: by a service each, or by one for all. */
export const MODES = ['cascade', 'realtime'] as const
export type Mode = (typeof MODES)[number]

/** How callers reach a project's bot. The last two are ways to bring phone calls into rooms. */
export const SCAFFOLD_TRANSPORTS = [
  'room',
  'webrtc',
  'websocket',
  'telephony_a',
  'telephony_b',
  'telephony_c',
  'telephony_d',
  'room_pstn',
  'telephony_a_room_sip',
] as const
export type ScaffoldTransport = (typeof SCAFFOLD_TRANSPORTS)[number]

/** Who calls whom, where that makes two different programs. */
export const CALL_MODES = ['dial-in', 'dial-out'] as const
export type CallMode = (typeof CALL_MODES)[number]

export const CLIENT_FRAMEWORKS = ['react', 'vanilla', 'none'] as const
export type ClientFramework = (typeof CLIENT_FRAMEWORKS)[number]

export const CLIENT_SERVERS = ['vite', 'nextjs'] as const
export type ClientServer = (typeof CLIENT_SERVERS)[number]

/** The kinds of service, and the lists that they are in. */
export const SERVICE_CATEGORIES = ['stt', 'llm', 'tts', 'realtime', 'video'] as const
export type ServiceCategory = (typeof SERVICE_CATEGORIES)[number]

/** One input, made valid for each place where a name is needed. */
export interface ProjectNames {
  /** As it was given, for people. */
  readonly title: string
  /** For Python packaging. */
  readonly python: string
  /** For npm. */
  readonly npm: string
  /** For the cloud: lower case, digits and hyphens, at most 54 characters. */
  readonly agent: string
}

/** Everything that decides what is generated: complete, consistent and checked. */
export interface Configuration {
  readonly names: ProjectNames
  readonly botType: BotType
  /** Without repetition, in the order that they were given. */
  readonly transports: readonly ScaffoldTransport[]
  readonly mode: Mode
  /** Ids of services. In cascade mode the first three are there, in realtime mode the fourth. */
  readonly stt?: string
  readonly llm?: string
  readonly tts?: string
  readonly realtime?: string
  readonly video?: string
  readonly clientFramework: ClientFramework
  /** There when a client is. */
  readonly clientServer?: ClientServer
  /** There when the transport is `room_pstn`. */
  readonly pstnMode?: CallMode
  /** There when the transport is `telephony_a_room_sip`. */
  readonly sipMode?: CallMode
  readonly recording: boolean
  readonly transcription: boolean
  readonly videoInput: boolean
  readonly videoOutput: boolean
  readonly deployToCloud: boolean
  readonly noiseFilter: boolean
  readonly observability: boolean
  readonly evals: boolean
}
