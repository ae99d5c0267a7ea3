import type { TransportId } from '@botcli/protocol'
import type { Rtvi } from './rtvi.ts'

/** A piece of mono sound: signed 16-bit samples at `sampleRate`. */
export interface AudioFrame {
  readonly samples: Int16Array
  readonly sampleRate: number
  /** Milliseconds since the session began at which this sound reached the runner. */
  readonly capturedAt: number
}

/** What a bot wants from its transport. Every field has a default. */
export interface TransportParams {
  /** Rate at which the bot hears the caller. Default 16000. */
  readonly audioInSampleRate?: number
  /** Rate of the audio that the bot will send. Default 24000. */
  readonly audioOutSampleRate?: number
  /** Answer `client-ready` and offer {@link Transport.rtvi}. Default true. */
  readonly rtvi?: boolean
}

/** What happened to the bot's sound when it was cut short. */
export interface ClearResult {
  /** Milliseconds that the caller was played since the clear before this one. */
  readonly playedMs: number
}

/** Why a session is over, in one word and in a sentence. */
export interface EndReason {
  readonly cause: string
  readonly message: string
}

/** The events of a {@link Transport} and what their listeners get. */
export interface TransportEvents {
  /** The caller's wire is up (again). A listener that is added while it is up is told at once. */
  connected: []
  /** The caller's wire is down; it may come back while the session lasts. */
  disconnected: []
  /** The session is over. Nothing can be sent any more. A listener that is added later is told at once. */
  ended: [EndReason]
  audio: [AudioFrame]
  /** A message of the client that {@link Transport.rtvi} has no listener for; every one with `rtvi: false`. */
  message: [unknown]
  /** One or more keys that the caller pressed: `0`-`9`, `*`, `#`, `A`-`D`. */
  dtmf: [string]
}

/**
 * One caller, whatever the wire: sound and messages in, sound and messages out.
 *
 * @example
 * const params = () => ({ audioInSampleRate: 16_000, audioOutSampleRate: 16_000 })
 * const transport = await createTransport(args, { webrtc: params, websocket: params })
 * for await (const frame of transport.audio()) await transport.sendAudio(frame.samples)
 */
export interface Transport {
  readonly type: TransportId
  readonly sessionId: string
  readonly audioInSampleRate: number
  readonly audioOutSampleRate: number
  /** True while the caller's wire is up. */
  readonly connected: boolean
  /** Aborted when the session ends; hand it to whatever the bot waits for. */
  readonly signal: AbortSignal
  /** The RTVI conversation with the client: transcripts, speaking events, requests. Throws with `rtvi: false`. */
  readonly rtvi: Rtvi

  /** The caller's sound until the session ends. Old sound is dropped first when the reader is slow. */
  audio(): AsyncIterable<AudioFrame>
  /**
   * Queues sound for the caller. Resolves when there is room for more, so awaiting it keeps the bot at
   * most about a second ahead of the caller's ear. Rejects when the session is over, or when far too much
   * was queued without waiting.
   */
  sendAudio(samples: Int16Array): Promise<void>
  /** Drops everything not yet played, here and on the way to the caller. */
  clear(): Promise<ClearResult>
  /** Resolves when all queued sound was played (or cleared, or the session ended). */
  drained(): Promise<void>
  /** Milliseconds that were played since the last clear. Sound that is queued now will begin at `playedMs + queuedMs`. */
  readonly playedMs: number
  /** Milliseconds of sound queued and not yet played. */
  readonly queuedMs: number

  /** Sends an application message, any JSON, to the client as it is. Nothing happens once the session is over. */
  sendMessage(message: unknown): void
  /** Presses keys towards the caller's side, where the wire can carry them. */
  sendDtmf(keys: string): void

  on<K extends keyof TransportEvents>(event: K, listener: (...args: TransportEvents[K]) => void): this
  off<K extends keyof TransportEvents>(event: K, listener: (...args: TransportEvents[K]) => void): this
  /** Ends the session once what is queued has been played. */
  close(): Promise<void>
}
