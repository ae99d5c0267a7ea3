import type { BotStart, SessionTransport } from '@botcli/protocol'
import { BotError } from './errors.ts'

/** Fields that every variant of {@link RunnerArguments} has. */
export interface CommonArguments {
  /** The one id of this session: the client, the logs and the API see the same. */
  readonly sessionId: string
  /** What the client gave to `/start`; an empty object when it gave nothing. */
  readonly body: Readonly<Record<string, unknown>>
  /** Managed by the development runner. */
  readonly handleSigint: boolean
  /** Managed by the development runner. */
  readonly handleSigterm: boolean
}

/** The caller's peer connection, as far as a bot may know it: media itself lives in another process. */
export interface WebrtcConnection {
  readonly pcId: string
}

/** The caller's WebSocket, as far as a bot may know it. */
export interface WebsocketConnection {
  readonly path: string
  readonly remoteAddress: string
}

/** A phone call, as its carrier told of it. */
export interface PhoneCall {
  /** The carrier's own ids. */
  readonly callId: string
  readonly streamId: string
  /** Who calls and who is called, where the carrier or the call's parameters tell. */
  readonly from?: string
  readonly to?: string
  /** What was given to the carrier to be handed on with the call. */
  readonly custom: Readonly<Record<string, string>>
  /** How the caller's sound comes in: `pcmu`, `pcma` or `l16`, at so many hertz. The bot hears its own rate. */
  readonly codec: string
  readonly rate: number
}

/** A session with no wire of its own. */
export interface BaseRunnerArguments extends CommonArguments {
  readonly variant: 'base'
}

/** A session in a room of the room provider. */
export interface RoomRunnerArguments extends CommonArguments {
  readonly variant: 'room'
  readonly roomUrl: string
  readonly token?: string
}

/** A session over a peer connection. */
export interface WebrtcRunnerArguments extends CommonArguments {
  readonly variant: 'webrtc'
  readonly webrtcConnection: WebrtcConnection
}

/** A session over a WebSocket, plain or of a phone carrier. */
export interface WebsocketRunnerArguments extends CommonArguments {
  readonly variant: 'websocket'
  readonly websocket: WebsocketConnection
  /** `eval` when the caller is an eval, which only bots in Python can serve. */
  readonly transportType: Exclude<SessionTransport, 'webrtc' | 'room'>
  /** Only when a phone carrier is at the other end. Its numbers and parameters are in `body`, too. */
  readonly call?: PhoneCall
}

/**
 * What `bot(args)` gets: branch on `variant` (or on `'roomUrl' in args`) where the transport matters. Reading a field of
 * another variant does not compile, and throws where nothing was compiled.
 */
export type RunnerArguments =
  | BaseRunnerArguments
  | RoomRunnerArguments
  | WebrtcRunnerArguments
  | WebsocketRunnerArguments

/** The fields that only one variant has. */
const OWNER = new Map<unknown, RunnerArguments['variant']>([
  ['webrtcConnection', 'webrtc'],
  ['websocket', 'websocket'],
  ['transportType', 'websocket'],
  ['call', 'websocket'],
  ['roomUrl', 'room'],
  ['token', 'room'],
])

/** The arguments of a session, frozen. */
export function argumentsOf(start: BotStart): RunnerArguments {
  const common = {
    sessionId: start.sessionId,
    body: start.body,
    handleSigint: false,
    handleSigterm: false,
  }
  if (start.transport === 'webrtc') {
    const { webrtc } = start
    if (webrtc) return guarded({ variant: 'webrtc', ...common, webrtcConnection: Object.freeze(webrtc) })
  } else if (start.transport === 'room') {
    const { room } = start
    if (room) {
      const token = room.token === undefined ? {} : { token: room.token }
      return guarded({ variant: 'room', ...common, roomUrl: room.roomUrl, ...token })
    }
  } else if (start.websocket) {
    const call = start.call && { call: phoneCallOf(start.call) }
    return guarded({
      variant: 'websocket',
      ...common,
      websocket: Object.freeze(start.websocket),
      transportType: start.transport,
      ...call,
    })
  }
  return guarded({ variant: 'base', ...common })
}

function phoneCallOf({ from, to, custom, ...call }: NonNullable<BotStart['call']>): PhoneCall {
  return Object.freeze({
    ...call,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    custom: Object.freeze(custom),
  })
}

/**
 * The guard is a prototype that answers only what the object itself does not have. So the object stays a plain one: `in`,
 * spread, `JSON.stringify`, `structuredClone` and `console.log` see its own fields and nothing else.
 */
function guarded<Args extends RunnerArguments>(args: Args): Args {
  const guard = new Proxy(
    {},
    {
      get(target, key, receiver) {
        const owner = OWNER.get(key)
        if (owner !== undefined && owner !== args.variant) {
          throw new BotError(
            'wrong_variant',
            `args.${String(key)} exists only when args.variant is '${owner}'; in this session it is '${args.variant}'. Check args.variant first`,
          )
        }
        return Reflect.get(target, key, receiver)
      },
    },
  )
  return Object.freeze(Object.assign(Object.create(guard), args))
}
