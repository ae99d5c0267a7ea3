import type { CallMode, Configuration, ScaffoldTransport } from '../configuration.ts'
import { ScaffoldError } from '../errors.ts'
import type { PictureSize, PythonVersion, Service, Value } from '../services/index.ts'
import { serviceById } from '../services/index.ts'

/** The transports of sessions that are not in a room; a bot calls them by the same names. */
const PLAIN_TRANSPORTS = [
  'webrtc',
  'websocket',
  'telephony_a',
  'telephony_b',
  'telephony_c',
  'telephony_d',
] as const
export type PlainTransport = (typeof PLAIN_TRANSPORTS)[number]

/** The carriers among them. */
export const CARRIERS = ['telephony_a', 'telephony_b', 'telephony_c', 'telephony_d'] as const
export type Carrier = (typeof CARRIERS)[number]

/** Phone calls that come into a room or go out from one. */
export interface CallFlow {
  readonly by: 'pstn' | 'sip'
  readonly mode: CallMode
}

/** What follows from a configuration for the code of the bot. */
export interface Traits {
  /** In the order in which they are made: hearing, thinking, speaking, showing. */
  readonly services: readonly Service[]
  readonly stt?: Service
  readonly llm: Service
  readonly tts?: Service
  readonly video?: Service
  readonly plain: readonly PlainTransport[]
  readonly carriers: readonly Carrier[]
  /** The carrier of a bot that nobody reaches in another way. */
  readonly onlyCarrier?: Carrier
  readonly inRooms: boolean
  readonly callFlow?: CallFlow
  /** Whether the bot says the first word. Who is called says it himself. */
  readonly greets: boolean
  /** Whether frames of video go to the bot or come from it. */
  readonly videoIn: boolean
  readonly videoOut: boolean
  /** How large the pictures are that go out. */
  readonly picture: PictureSize
  /** Whether the language model takes pictures when it wants some. */
  readonly looks: boolean
  /**
   * Whether the bot speaks to its callers by the transports of the library. Ours carry sound and messages, so
   * a peer connection with video has to be the library's own; the runner then passes it through.
   */
  readonly libraryWires: boolean
  /** Whether services share an HTTP session. */
  readonly sharesSession: boolean
  readonly python: PythonVersion
}

/** What follows from a configuration. */
export function traitsOf(configuration: Configuration): Traits {
  const { transports, mode } = configuration
  const stt = mode === 'cascade' ? chosen(configuration.stt) : undefined
  const tts = mode === 'cascade' ? chosen(configuration.tts) : undefined
  const llm = chosen(mode === 'cascade' ? configuration.llm : configuration.realtime)
  if (llm === undefined || (mode === 'cascade' && (stt === undefined || tts === undefined))) {
    throw new ScaffoldError('plan_invalid', `the configuration lacks a service that ${mode} mode needs`)
  }
  const video = chosen(configuration.video)
  const services = [stt, llm, tts, video].filter((service) => service !== undefined)
  const callFlow = callFlowOf(configuration)
  const carriers = CARRIERS.filter((carrier) => transports.includes(carrier))
  const [onlyCarrier] = transports.length === 1 ? carriers : []
  const videoIn = configuration.videoInput
  const videoOut = configuration.videoOutput || video !== undefined
  return {
    services,
    llm,
    ...(stt === undefined ? {} : { stt }),
    ...(tts === undefined ? {} : { tts }),
    ...(video === undefined ? {} : { video }),
    plain: PLAIN_TRANSPORTS.filter((transport) => transports.includes(transport)),
    carriers,
    ...(onlyCarrier === undefined ? {} : { onlyCarrier }),
    inRooms: transports.some(isInRooms),
    ...(callFlow === undefined ? {} : { callFlow }),
    greets: callFlow?.mode !== 'dial-out',
    videoIn,
    videoOut,
    picture: video?.picture ?? { width: 1024, height: 768 },
    looks: videoIn && mode === 'cascade',
    libraryWires: (videoIn || videoOut) && transports.includes('webrtc'),
    sharesSession: services.some((service) => valuesOf(service).some((value) => value.kind === 'session')),
    python: services.some((service) => service.python === '3.12') ? '3.12' : '3.11',
  }
}

/** Every value that a service is made with, those inside of objects included. */
export function valuesOf(service: Service): readonly Value[] {
  return [service.parameters, service.settings ?? {}].flatMap((parameters) =>
    Object.values(parameters).flatMap(withInner),
  )
}

function withInner(value: Value): readonly Value[] {
  return value.kind === 'object' ? [value, ...Object.values(value.parameters).flatMap(withInner)] : [value]
}

function isInRooms(transport: ScaffoldTransport): boolean {
  return transport === 'room' || transport === 'room_pstn' || transport === 'telephony_a_room_sip'
}

function callFlowOf({ transports, pstnMode, sipMode }: Configuration): CallFlow | undefined {
  if (transports.includes('room_pstn')) return { by: 'pstn', mode: pstnMode ?? 'dial-in' }
  if (transports.includes('telephony_a_room_sip')) return { by: 'sip', mode: sipMode ?? 'dial-in' }
  return undefined
}

function chosen(id: string | undefined): Service | undefined {
  if (id === undefined) return undefined
  const service = serviceById(id)
  if (service === undefined) throw new ScaffoldError('plan_invalid', `there is no service ${id}`)
  return service
}
