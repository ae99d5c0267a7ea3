/** Editors write a file in several steps; a change counts when they have been quiet for this long. */
const QUIET_MS = 60
/** A file that is written without pause counts anyway. */
const MAX_WAIT_MS = 1000

/** Makes one change of the many events that a save is. It does not keep the process alive. */
export class ChangeTimer {
  readonly #onDue: () => void
  #timer: NodeJS.Timeout | undefined
  #changedAt: number | undefined
  #closed = false

  constructor(onDue: () => void) {
    this.#onDue = onDue
  }

  /** Something has happened just now. */
  changed(): void {
    const now = performance.now()
    this.#changedAt ??= now
    this.schedule(now - this.#changedAt > MAX_WAIT_MS - QUIET_MS ? 0 : QUIET_MS)
  }

  /** Counts as a change after so long, unless another time is set before. */
  schedule(ms: number): void {
    if (this.#closed) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#changedAt = undefined
      this.#onDue()
    }, ms)
    this.#timer.unref()
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
  }
}
