/** Who starts an instance. */
export interface Starter {
  readonly organizationId: string
  /** Whether a caller waits for it now. */
  readonly isAwaited: () => boolean
}

/** A start whose turn it is. */
export interface Turn {
  /** What was being started is there, or came to nothing. */
  end(): void
}

/** What limits turns. */
export interface StartTurnsOptions {
  /** Starts at the same time: each of them takes a processor for a while. Where a caller waits, there can be one more. */
  readonly most: number
  /** A turn is over after so long: what hangs, or is still being fetched, must not hold others up. */
  readonly longestMs: number
}

/** A start under way. */
interface Held {
  readonly organizationId: string
  /** Whether it has the place that only a start with a caller can have. */
  readonly isExtra: boolean
}

interface Waiter {
  readonly starter: Starter
  readonly begin: (turn: Turn) => void
}

/**
 * Instances are started in turns. Whose organization has the fewest starts under way is next, then those for whom callers wait, then who came
 * first. As many wait as the machine has places for instances.
 */
export class StartTurns {
  readonly #options: StartTurnsOptions
  readonly #waiters: Waiter[] = []
  readonly #held = new Set<Held>()

  constructor(options: StartTurnsOptions) {
    this.#options = options
  }

  /** Waits for a turn; gives nothing if it is not wanted any more. */
  async take(starter: Starter, signal: AbortSignal): Promise<Turn | undefined> {
    if (signal.aborted) return undefined
    return new Promise((resolve) => {
      const leave = (): void => {
        this.#waiters.splice(this.#waiters.indexOf(waiter), 1)
        resolve(undefined)
      }
      const begin = (turn: Turn): void => {
        signal.removeEventListener('abort', leave)
        resolve(turn)
      }
      const waiter = { starter, begin }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiters.push(waiter)
      this.look()
    })
  }

  /** Somebody may be awaited now who was not before. */
  look(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#waiters.splice(this.#waiters.indexOf(next), 1)
      next.begin(this.#begin(next.starter))
    }
  }

  #begin({ organizationId }: Starter): Turn {
    const held = { organizationId, isExtra: !this.#isFree }
    this.#held.add(held)
    const end = (): void => {
      if (!this.#held.delete(held)) return
      clearTimeout(timer)
      this.look()
    }
    const timer = setTimeout(end, this.#options.longestMs)
    return { end }
  }

  /** A place that everybody can have goes by rank, also while callers have theirs: else who calls often would have all of them. */
  #next(): Waiter | undefined {
    const isFree = this.#isFree
    if (!isFree && this.#hasExtra) return undefined
    const able = this.#waiters.filter(({ starter }) => isFree || starter.isAwaited())
    const [first] = able.toSorted((a, b) => this.#rank(a.starter) - this.#rank(b.starter))
    return first
  }

  #rank({ organizationId, isAwaited }: Starter): number {
    const held = [...this.#held].filter((one) => one.organizationId === organizationId).length
    return 2 * held + (isAwaited() ? 0 : 1)
  }

  /** Whether one of the places is free that everybody can have. */
  get #isFree(): boolean {
    return [...this.#held].filter(({ isExtra }) => !isExtra).length < this.#options.most
  }

  get #hasExtra(): boolean {
    return [...this.#held].some(({ isExtra }) => isExtra)
  }
}
