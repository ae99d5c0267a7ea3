const SOONEST_MS = 10

/** When something is to be looked at again, at the latest. Times are of `performance.now()`: the clock on the wall may be set. */
export class NextLook {
  readonly #look: () => void
  #timer: NodeJS.Timeout | undefined
  #at = Number.POSITIVE_INFINITY

  constructor(look: () => void) {
    this.#look = look
  }

  /** At this time, if it was to be later. */
  at(time: number): void {
    if (this.#at <= time) return
    clearTimeout(this.#timer)
    this.#at = time
    this.#timer = setTimeout(
      () => {
        this.#at = Number.POSITIVE_INFINITY
        this.#look()
      },
      Math.max(SOONEST_MS, time - performance.now()),
    )
  }

  close(): void {
    clearTimeout(this.#timer)
  }
}
