import type { IceCandidate, MediaCounters, SessionOutcome } from '@botcli/protocol'

/** The rates at which a bot wants to hear and to speak. */
export interface AudioFormat {
  readonly inputRate: number
  readonly outputRate: number
}

/** What a wire tells the session that owns it. */
export interface WireEvents {
  /** The caller can hear and be heard (again). */
  connected(): void
  /** The caller cannot be heard for now; a wire that can be mended calls `connected` again. */
  disconnected(): void
  /** The wire is over and will not come back. Called at most once, and never after `close`. */
  gone(cause: 'client_left' | 'client_lost', message: string): void
  /** Sound of the caller, mono, at the format's input rate. `arrivedAt` is when its packet came in, by the clock. */
  audio(samples: Int16Array, arrivedAt: number): void
  /** An application message of the client, parsed from JSON. */
  message(message: unknown): void
  /** Keys that the caller pressed. */
  dtmf(keys: string): void
}

/** What only the wire can count. */
export type WireCounters = Pick<MediaCounters, 'audioInConcealedMs' | 'badMessages'>

/**
 * One caller's connection. It turns whatever the caller speaks into PCM and messages and back; it does not
 * pace, queue or interpret. Nothing here may throw because of what a caller sent.
 */
export interface Wire {
  /** Whether it takes each step as soon as there is one. Others keep a time of their own and want one on each tick. */
  readonly eager: boolean
  /** Set before any audio is passed in either direction; sound that arrives earlier is dropped. */
  setFormat(format: AudioFormat): void
  /** Sends 20 ms of sound now. The caller of this method is the clock. */
  sendAudio(samples: Int16Array): void
  /** Called on each 20 ms step in which there is nothing to say, so that a wire can keep its stream alive. */
  sendNothing(): void
  /** Makes the far end drop what it has not played, where it can. */
  clear(): void
  /** False when the message was left out, because the client cannot take it or not any more. */
  sendMessage(message: unknown): boolean
  sendDtmf(keys: string): void
  /** Bytes of messages that the client has not taken yet. */
  readonly messageBacklog: number
  readonly counters: WireCounters
  /** Resolves when the caller has got the last word, or cannot get it any more; within seconds after `close`. */
  readonly finished: Promise<void>
  /** Tells the client why, then closes and frees everything. Safe to call twice. */
  close(outcome: SessionOutcome): void
}

/** Addresses and ports that peer connections may use. */
export interface IceOptions {
  /** One UDP port for all peers of this process. */
  readonly port?: number
  /** The address that clients are told instead of the ones that were found. */
  readonly announcedAddress?: string
  /** Keep only host candidates of this address and fingerprints that an ESP32 understands. */
  readonly esp32Host?: string
}

/** What is set up by offers and answers. */
export interface PeerEnd {
  /** Answers an offer; `restart` replaces the peer connection under the running session. Rejects a bad offer. */
  answer(sdp: string, restart: boolean): Promise<{ readonly sdp: string; readonly pcId: string }>
  /** Adds what it can of the candidates and leaves out the rest. */
  addCandidates(candidates: readonly IceCandidate[]): void
}
