import {
  DEFAULT_STUN_URL,
  type RoomStartResponse,
  type StartRequest,
  type TelephonyStartResponse,
  TRANSPORTS,
  type TransportId,
  type WebrtcStartResponse,
  type WebsocketStartResponse,
} from '@botcli/protocol'
import type { RunnerConfig } from '../config.ts'
import type { GuestPool } from '../guests/guest-pool.ts'
import { RequestError } from '../request-error.ts'
import type { Rooms } from '../rooms/rooms.ts'
import type { Connector } from '../sessions/connector.ts'
import type { SessionTable } from '../sessions/session-table.ts'
import type { SessionTokens } from '../sessions/session-tokens.ts'
import { type ReachedBy, websocketUrl } from './public-url.ts'

/** What starting a session needs. */
export interface StartOptions {
  readonly config: RunnerConfig
  readonly transports: readonly TransportId[]
  readonly table: SessionTable
  readonly tokens: SessionTokens
  readonly connector: Connector
  readonly guests: GuestPool
  readonly rooms: Rooms
}

/** A start in an instance of the cloud, where every session has an id from the beginning. */
export interface CloudStart {
  /** What the cloud calls it, if it has a name for it. */
  readonly sessionId: string | undefined
}

/** What `/start` answers; it depends on the transport. */
export type StartResponse =
  | WebrtcStartResponse
  | WebsocketStartResponse
  | TelephonyStartResponse
  | RoomStartResponse

/** Throws unless the server was started for this transport. */
export function requireTransport(transport: TransportId, transports: readonly TransportId[]): void {
  if (transports.includes(transport)) return
  const message = `This runner only serves ${transports.join(', ')}; ${transport} is turned off by -t.`
  throw new RequestError('transport_not_enabled', message)
}

/** `POST /start`: makes a session, and says how its caller gets to it. */
export async function start(
  request: StartRequest,
  reachedBy: ReachedBy,
  options: StartOptions,
  cloud?: CloudStart,
): Promise<StartResponse> {
  const { config, transports, guests } = options
  const transport = request.transport ?? config.transport ?? 'webrtc'
  requireTransport(transport, transports)
  await guests.check()
  if (TRANSPORTS[transport].telephony) return startCall(transport, request, reachedBy, options, cloud)
  if (transport === 'room') return startRoom(request, options, cloud)
  const session = options.table.create(transport, request.body, cloud?.sessionId)
  session.logger.info('session waits for its caller', { transport })
  if (transport === 'websocket') {
    const token = config.wsAuth === 'token' ? { token: options.tokens.issue(session.id) } : {}
    return { wsUrl: websocketUrl('/ws-client', reachedBy), sessionId: session.id, ...token }
  }
  if (!request.enableDefaultIceServers) return { sessionId: session.id }
  return { sessionId: session.id, iceConfig: { iceServers: [{ urls: [DEFAULT_STUN_URL] }] } }
}

/**
 * A body has to find its call, so such a call gets an address of its own. Without one there is nothing to find, and the address
 * is the one that can be written into a carrier's settings for good.
 */
function startCall(
  transport: TransportId,
  { body }: StartRequest,
  reachedBy: ReachedBy,
  { table }: StartOptions,
  cloud: CloudStart | undefined,
): TelephonyStartResponse {
  if (body === undefined && cloud === undefined) {
    table.checkRoom()
    return { wsUrl: websocketUrl('/ws', reachedBy) }
  }
  const session = table.create(transport, body, cloud?.sessionId)
  session.logger.info('session waits for its caller', { transport })
  const wsUrl = websocketUrl(callPath(session.id), reachedBy)
  return { wsUrl, ...(cloud && { sessionId: session.id }) }
}

/** Where the call of one session arrives. */
export function callPath(sessionId: string): string {
  return `/sessions/${sessionId}/ws`
}

async function startRoom(
  request: StartRequest,
  options: StartOptions,
  cloud: CloudStart | undefined,
): Promise<RoomStartResponse> {
  const { table, rooms, connector } = options
  rooms.check()
  const session = table.create('room', request.body, cloud?.sessionId)
  try {
    const room = await rooms.open(request)
    await connector.room(session, { roomUrl: room.url, token: room.botToken })
    return { roomUrl: room.url, roomToken: room.userToken, sessionId: session.id }
  } catch (error) {
    table.discard(session, error instanceof Error ? error.message : String(error))
    throw error
  }
}
