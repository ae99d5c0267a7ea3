/** How long the readers of logs may work before others get their turn. */
const TURN_MS = 8
/** How many of those that wait go on in one turn; a step of each is short. */
const TURN_READERS = 8

/** Keeps readers that work in steps, however many they are, from holding up everything else. */
export class Turns {
  readonly #waiting: (() => void)[] = []
  #begun = performance.now()
  #isDue = false

  /** To be awaited between two steps. */
  async next(): Promise<void> {
    if (this.#waiting.length === 0 && performance.now() - this.#begun < TURN_MS) return
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      this.#plan()
    })
  }

  #plan(): void {
    if (this.#isDue) return
    this.#isDue = true
    setImmediate(() => {
      this.#isDue = false
      this.#begun = performance.now()
      for (const resolve of this.#waiting.splice(0, TURN_READERS)) resolve()
      if (this.#waiting.length > 0) this.#plan()
    })
  }
}
