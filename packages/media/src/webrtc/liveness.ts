import type { WireEvents } from '../wire.ts'

/** Starts a timer that fires once, and gives back how to cancel it. */
export type SetTimer = (callback: () => void, ms: number) => () => void

/** How long a caller may be away. */
export interface LivenessLimits {
  /** From the first answer to the first connection. */
  readonly connectMs: number
  /** Without a packet, a message or a ping. */
  readonly silenceMs: number
  /** From the loss of a connection to the end, in which the client can come back with a new offer. */
  readonly graceMs: number
}

/** Twenty seconds of silence and four of grace end a lost call within half a minute. */
export const LIVENESS_LIMITS: LivenessLimits = { connectMs: 60_000, silenceMs: 20_000, graceMs: 4_000 }

type GoneCause = Parameters<WireEvents['gone']>[0]

/** Decides whether the caller is there, away for a moment, or gone. */
export class Liveness {
  readonly #events: Pick<WireEvents, 'connected' | 'disconnected' | 'gone'>
  readonly #clock: () => number
  readonly #setTimer: SetTimer
  readonly #limits: LivenessLimits
  /** What the peer connection itself says. */
  #up = false
  /** What the session was told. */
  #told = false
  #everUp = false
  #over = false
  #heardAt = 0
  #cancelWatch: (() => void) | undefined
  #cancelGrace: (() => void) | undefined

  constructor(options: {
    readonly events: Pick<WireEvents, 'connected' | 'disconnected' | 'gone'>
    readonly clock: () => number
    readonly setTimer: SetTimer
    readonly limits: LivenessLimits
  }) {
    this.#events = options.events
    this.#clock = options.clock
    this.#setTimer = options.setTimer
    this.#limits = options.limits
  }

  /** A sign of life. */
  heard(): void {
    this.#heardAt = this.#clock()
    if (this.#up && !this.#told && !this.#over) this.#connect()
  }

  /** A new peer connection was answered and is on its way. */
  renewed(): void {
    if (this.#over) return
    this.#up = false
    this.#stopGrace()
    this.#disconnect()
    this.#heardAt = this.#clock()
    this.#watch()
  }

  /** The peer connection carries media. */
  peerUp(): void {
    if (this.#over) return
    this.#up = true
    this.#heardAt = this.#clock()
    this.#connect()
    this.#watch()
  }

  /** The path is interrupted; it may mend itself. */
  peerDown(): void {
    this.#up = false
    this.#disconnect()
  }

  /** The peer connection is over; only a new offer can bring the caller back. */
  peerOver(cause: GoneCause, message: string): void {
    if (this.#over) return
    this.#up = false
    this.#disconnect()
    this.#startGrace(cause, message)
  }

  /** Stops all timers; nothing is told any more. */
  close(): void {
    this.#over = true
    this.#stopGrace()
    this.#cancelWatch?.()
    this.#cancelWatch = undefined
  }

  #connect(): void {
    this.#stopGrace()
    this.#everUp = true
    if (this.#told) return
    this.#told = true
    this.#events.connected()
  }

  #disconnect(): void {
    if (!this.#told || this.#over) return
    this.#told = false
    this.#events.disconnected()
  }

  #startGrace(cause: GoneCause, message: string): void {
    if (this.#cancelGrace !== undefined) return
    this.#cancelGrace = this.#setTimer(() => {
      if (this.#over) return
      this.close()
      this.#events.gone(cause, message)
    }, this.#limits.graceMs)
  }

  #stopGrace(): void {
    this.#cancelGrace?.()
    this.#cancelGrace = undefined
  }

  /** One timer that looks again when the silence so far could have become too long; packets only set a number. */
  #watch(): void {
    this.#cancelWatch?.()
    const limit = this.#everUp ? this.#limits.silenceMs : this.#limits.connectMs
    const left = this.#heardAt + limit - this.#clock()
    if (left > 0) {
      this.#cancelWatch = this.#setTimer(() => this.#watch(), Math.ceil(left))
      return
    }
    this.#cancelWatch = this.#setTimer(() => this.#watch(), limit)
    this.#disconnect()
    const message = this.#everUp
      ? `Nothing was heard of the client for ${Math.round(limit / 1000)} seconds.`
      : `The client did not connect within ${Math.round(limit / 1000)} seconds.`
    this.#startGrace('client_lost', message)
  }
}
