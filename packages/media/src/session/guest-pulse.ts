/** A guest that has not answered for so long is taken for dead. */
const SILENCE_LIMIT_MS = 30_000

/** What can be wrong with a guest. */
export interface PulseFault {
  readonly cause: 'bot_unresponsive' | 'bot_out_of_memory'
  readonly message: string
}

/** Asks a guest every second whether it is alive, and how large it has grown. */
export class GuestPulse {
  readonly #maxMemoryBytes: number
  #lastSignAt: number
  #pingId = 0

  constructor(now: number, maxMemoryBytes: number) {
    this.#lastSignAt = now
    this.#maxMemoryBytes = maxMemoryBytes
  }

  /** The id of the next ping, or what is wrong. */
  beat(now: number): number | PulseFault {
    const silentMs = now - this.#lastSignAt
    if (silentMs > SILENCE_LIMIT_MS) {
      const seconds = Math.round(silentMs / 1000)
      return { cause: 'bot_unresponsive', message: `The bot did not react for ${seconds} seconds.` }
    }
    this.#pingId += 1
    return this.#pingId
  }

  /** The guest has shown that it lives. */
  alive(now: number): void {
    this.#lastSignAt = now
  }

  /** The guest has told its size. Gives what is wrong with that, if anything. */
  weigh(bytes: number): PulseFault | undefined {
    if (bytes <= this.#maxMemoryBytes) return undefined
    const message = `The bot used ${megabytes(bytes)} MB of memory; ${megabytes(this.#maxMemoryBytes)} MB are allowed.`
    return { cause: 'bot_out_of_memory', message }
  }
}

function megabytes(bytes: number): number {
  return Math.round(bytes / (1024 * 1024))
}
