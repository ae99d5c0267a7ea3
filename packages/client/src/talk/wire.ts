import type { Transport } from '@pipecat-ai/client-js'
import type { Ending } from '../state/problem.ts'

/** What a wire tells the conversation that owns it. */
export interface WireEvents {
  /** A message went to the bot. */
  sent(type: string, data: unknown): void
  /** The wire is down for good, and this is what it knows about why. */
  closed(ending: Ending): void
  /** The wire is down; it may mend itself. */
  interrupted(): void
  /** The wire mended itself. */
  restored(): void
}

/** One of the published transports, with the few things added that they keep to themselves. */
export interface Wire {
  readonly transport: Transport
  /** What the published client's `connect` wants to know. */
  readonly connectParams: Readonly<Record<string, unknown>>
  /** To be called whenever the connection is up. */
  connected(): void
  /** Sends this microphone from now on. */
  replaceTrack(track: MediaStreamTrack): Promise<void>
}
