import type { Transport, TransportConnectionParams } from '@pipecat-ai/client-js'

/** One way to reach the bot. */
export interface BotTransport {
  /** As the server knows it. */
  readonly id: string
  /** For people. */
  readonly label: string
  /** Whether pictures can travel this way. */
  readonly video: boolean
  /** Makes the published transport. It is asked for once. */
  create(): CreatedTransport
  /** What the transport needs from the server's answer to `/start`. */
  connection(answer: StartAnswer): TransportConnectionParams
}

/** A published transport, with what it leaves to others. */
export interface CreatedTransport {
  readonly transport: Transport
  /** Drops what the bot has sent and nobody has heard yet. */
  silence(): void
  /** Frees microphone and camera. */
  release(): void
}

/** The server's answer to `/start`; each transport has its own fields. */
export interface StartAnswer {
  readonly sessionId?: string
  readonly wsUrl?: string
  readonly token?: string
  readonly roomUrl?: string
  readonly roomToken?: string
}
