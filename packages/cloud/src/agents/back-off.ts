const FIRST_MS = 500
const LONGEST_MS = 60_000
/** Who has lived so long is forgiven what was before. */
const FORGIVEN_AFTER_MS = 60_000

/** How long to wait before something that keeps ending is started again: twice as long each time. Its times are of a clock that nobody sets. */
export class BackOff {
  #failures = 0
  #notBefore = 0

  /** How often in a row it ended too early. */
  get failures(): number {
    return this.#failures
  }

  /** It can be started again from this time on. */
  get notBefore(): number {
    return this.#notBefore
  }

  /** Whether it did not end by itself for so long that what was before does not count. */
  isForgiven(now: number): boolean {
    return now >= this.#notBefore + FORGIVEN_AFTER_MS
  }

  /** It has ended by itself after so long. Several that end while nothing may be started anyway count as one: they had the same cause. */
  failed(now: number, livedMs: number): void {
    if (this.#failures > 0 && now < this.#notBefore) return
    this.#failures = livedMs >= FORGIVEN_AFTER_MS ? 1 : this.#failures + 1
    this.#notBefore = now + Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#failures - 1))
  }
}
