import { setImmediate } from 'node:timers/promises'

/** Others get their turn after this long. */
const TURN_MS = 8

/** Keeps work that is done in steps from holding up everything else. */
export class Turns {
  #begun = performance.now()

  /** To be awaited between two steps. */
  async next(): Promise<void> {
    if (performance.now() - this.#begun < TURN_MS) return
    await setImmediate()
    this.#begun = performance.now()
  }
}
