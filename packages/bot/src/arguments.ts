import type { TransportId } from '@botcli/protocol'

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
  readonly transportType: Exclude<TransportId, 'webrtc' | 'room'>
}

/** What `bot(args)` gets: branch on `variant` where the transport matters. */
export type RunnerArguments =
  | BaseRunnerArguments
  | RoomRunnerArguments
  | WebrtcRunnerArguments
  | WebsocketRunnerArguments
