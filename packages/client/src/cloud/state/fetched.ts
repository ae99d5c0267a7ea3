import { batch, signal } from '@preact/signals'
import { messageOf } from '../api/api-error.ts'

/** Something that the cloud was asked for: nothing yet, the last answer, and what went wrong since. */
export class Fetched<T> {
  readonly value = signal<T | undefined>(undefined)
  readonly problem = signal<string | undefined>(undefined)
  readonly #fetch: () => Promise<T>
  #asked = 0

  constructor(fetchValue: () => Promise<T>) {
    this.#fetch = fetchValue
    void this.load()
  }

  /** Asks again. */
  async load(): Promise<void> {
    this.#asked += 1
    const asked = this.#asked
    try {
      const value = await this.#fetch()
      if (asked !== this.#asked) return
      batch(() => {
        this.value.value = value
        this.problem.value = undefined
      })
    } catch (error) {
      if (asked === this.#asked) this.problem.value = messageOf(error)
    }
  }

  /** Answers that are still on their way no longer count. */
  close(): void {
    this.#asked += 1
  }
}
