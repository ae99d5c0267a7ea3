import { FloodGate } from './flood-gate.ts'

const BACKLOG_HIGH_BYTES = 1024 * 1024
const BACKLOG_LOW_BYTES = 256 * 1024
/** A client may take this long to swallow what the bot has sent it. */
const BACKLOG_PATIENCE_MS = 15_000
const BACKLOG_POLL_MS = 100

/** What the throttle needs to know and may do. */
export interface GuestThrottleOptions {
  readonly clock: () => number
  /** Bytes of messages that the client has not taken yet. */
  readonly backlog: () => number
  readonly pause: () => void
  readonly resume: () => void
  readonly flooded: (message: string) => void
}

/** Makes a bot wait that says more than it should, or more than its client takes; gives up on one that never stops. */
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
    const { clock, backlog, flooded } = this.#options
    const now = clock()
    const admitted = this.#gate.admit(now)
    if (this.#gate.flooded) flooded('The bot sent messages without end: more than 5000 a second.')
    else if (this.#timer !== undefined) return
    else if (backlog() > BACKLOG_HIGH_BYTES) this.#holdUntilTaken(now + BACKLOG_PATIENCE_MS)
    else if (!admitted) this.#hold(this.#gate.waitMs(now), () => this.#release())
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #holdUntilTaken(deadline: number): void {
    this.#hold(BACKLOG_POLL_MS, () => {
      if (this.#options.backlog() < BACKLOG_LOW_BYTES) this.#release()
      else if (this.#options.clock() < deadline) this.#holdUntilTaken(deadline)
      else this.#options.flooded('The bot sent more messages than its client could take.')
    })
  }

  #hold(ms: number, then: () => void): void {
    this.#options.pause()
    this.#timer = setTimeout(then, ms)
  }

  #release(): void {
    this.#timer = undefined
    this.#options.resume()
  }
}
