declare const performance: { now(): number }
declare function setTimeout(callback: () => void, ms: number): unknown
declare function clearTimeout(timer: unknown): void

/** Starts a timer that fires once, and gives back how to cancel it. */
export type SetTimer = (callback: () => void, ms: number) => () => void

/** What a {@link Ticker} needs. Only the interval has no default. */
export interface TickerOptions {
  readonly intervalMs: number
  /** A clock in milliseconds that never goes back. */
  readonly now?: () => number
  readonly setTimer?: SetTimer
  /** Steps made at once after a stall; what was missed beyond them is skipped. */
  readonly maxCatchUp?: number
  /** Hears what a subscriber threw. */
  readonly onError?: (error: unknown) => void
}

interface Subscriber {
  readonly step: () => void
}

/** One steady timer for many: its steps do not drift, and it runs only while somebody listens. */
export class Ticker {
  readonly #intervalMs: number
  readonly #now: () => number
  readonly #setTimer: SetTimer
  readonly #maxCatchUp: number
  readonly #onError: (error: unknown) => void
  readonly #subscribers = new Set<Subscriber>()
  #nextAt = 0
  #cancel: (() => void) | undefined

  constructor(options: TickerOptions) {
    this.#intervalMs = options.intervalMs
    this.#now = options.now ?? (() => performance.now())
    this.#setTimer = options.setTimer ?? systemTimer
    this.#maxCatchUp = options.maxCatchUp ?? 5
    this.#onError = options.onError ?? (() => {})
  }

  /** Calls `step` on every step from the next on, until the returned function is called. */
  add(step: () => void): () => void {
    const subscriber: Subscriber = { step }
    this.#subscribers.add(subscriber)
    if (this.#subscribers.size === 1) {
      this.#nextAt = this.#now() + this.#intervalMs
      this.#schedule()
    }
    return () => {
      this.#subscribers.delete(subscriber)
      if (this.#subscribers.size === 0) this.#stop()
    }
  }

  /** Lets go of every subscriber and of the timer. */
  close(): void {
    this.#subscribers.clear()
    this.#stop()
  }

  #schedule(): void {
    this.#stop()
    const delay = Math.max(0, Math.ceil(this.#nextAt - this.#now()))
    this.#cancel = this.#setTimer(this.#fire, delay)
  }

  readonly #fire = (): void => {
    this.#cancel = undefined
    const now = this.#now()
    for (let made = 0; made < this.#maxCatchUp && this.#nextAt <= now; made += 1) {
      this.#nextAt += this.#intervalMs
      this.#step()
    }
    if (this.#subscribers.size === 0) return
    if (this.#nextAt <= now) this.#nextAt = now + this.#intervalMs
    this.#schedule()
  }

  #step(): void {
    // A copy, so that somebody who joins during a step waits for the next one.
    for (const subscriber of [...this.#subscribers]) {
      if (!this.#subscribers.has(subscriber)) continue
      try {
        subscriber.step()
      } catch (error) {
        this.#onError(error)
      }
    }
  }

  #stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }
}

function systemTimer(callback: () => void, ms: number): () => void {
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}
