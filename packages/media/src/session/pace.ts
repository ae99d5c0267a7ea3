const STEP_MS = 20
/** A step may be made so much before its time; more would be a lump. */
const EARLY_MS = 10
/** Nothing is taken for missing before it is so late. */
const PATIENCE_MS = 20
/** After a stall so much is made up for; the rest of the lost time stays lost. */
const CATCH_UP_MS = 100

/**
 * The pace of a wire that takes each step when there is one: one in 20 ms on average. Sound that comes just after a tick need
 * not wait for the next.
 */
export class Pace {
  #dueAt = Number.NEGATIVE_INFINITY

  /** Something begins after a pause, and nothing of the pause is to be made up for. */
  begin(now: number): void {
    this.#dueAt = Math.max(this.#dueAt, now)
  }

  /** Whether a step can be made now. */
  allows(now: number): boolean {
    return now >= this.#dueAt - EARLY_MS
  }

  /** Whether a step has to be made now, even of nothing. */
  demands(now: number): boolean {
    return now >= this.#dueAt + PATIENCE_MS
  }

  /** A step was made. */
  made(now: number): void {
    this.#dueAt = Math.max(this.#dueAt, now - CATCH_UP_MS) + STEP_MS
  }
}
