import { FloodGate } from './flood-gate.ts'

/** What the throttle needs to know and may do. */
export interface GuestThrottleOptions {
  readonly clock: () => number
  readonly pause: () => void
  readonly resume: () => void
  readonly flooded: (message: string) => void
}

/** Makes a bot wait that says more than it should for a moment, and gives up on one that never stops. */
export class GuestThrottle {
  readonly #options: GuestThrottleOptions
  readonly #gate = new FloodGate()
  #timer: NodeJS.Timeout | undefined

  constructor(options: GuestThrottleOptions) {
    this.#options = options
  }

  /** Whether the bot is being made to wait, so that its silence says nothing about it. */
  get holding(): boolean {
    return this.#timer !== undefined
  }

  /** Counts a message or a frame of the bot that was dealt with just now. */
  count(): void {
    const { clock, pause, resume, flooded } = this.#options
    const now = clock()
    const admitted = this.#gate.admit(now)
    if (this.#gate.flooded) flooded('The bot sent messages without end: more than 5000 a second.')
    else if (!admitted && this.#timer === undefined) {
      pause()
      this.#timer = setTimeout(() => {
        this.#timer = undefined
        resume()
      }, this.#gate.waitMs(now))
    }
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}
