/** Does something again and again while the page is looked at; the next time is counted from the end of the last. */
export class Poller {
  readonly #action: () => Promise<void>
  readonly #everyMs: () => number
  #timer: ReturnType<typeof setTimeout> | undefined
  #running = false
  #again = false
  #closed = false

  constructor(action: () => Promise<void>, everyMs: () => number) {
    this.#action = action
    this.#everyMs = everyMs
    document.addEventListener('visibilitychange', this.#onVisible)
  }

  /** Does it now, or once more if it is being done. Rejects never. */
  async now(): Promise<void> {
    clearTimeout(this.#timer)
    if (this.#running) {
      this.#again = true
      return
    }
    this.#running = true
    do {
      this.#again = false
      await this.#action()
    } while (this.#again && !this.#closed)
    this.#running = false
    if (!this.#closed && document.visibilityState === 'visible') {
      this.#timer = setTimeout(() => void this.now(), this.#everyMs())
    }
  }

  close(): void {
    this.#closed = true
    clearTimeout(this.#timer)
    document.removeEventListener('visibilitychange', this.#onVisible)
  }

  readonly #onVisible = (): void => {
    if (document.visibilityState === 'visible') void this.now()
  }
}
