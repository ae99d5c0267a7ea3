import type { JournalPosition, NewLogEntry } from './agent-log-store.ts'

/** More entries than this wait for the next turn. */
const TURN_ENTRIES = 500

/** Entries of one agent that are written together. */
export interface Append {
  readonly agentId: string
  readonly entries: readonly NewLogEntry[]
  readonly read: { readonly instanceId: string; readonly position: JournalPosition } | undefined
}

interface Waiting extends Append {
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Collects what comes in one turn of the event loop, so that it is written in one transaction. */
export class AppendQueue {
  readonly #write: (appends: readonly Append[]) => void
  #waiting: Waiting[] = []
  #timer: NodeJS.Immediate | undefined

  /** `write` writes all of them or none, and throws in that case. */
  constructor(write: (appends: readonly Append[]) => void) {
    this.#write = write
  }

  /** Resolves when they are written. */
  add(append: Append): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...append, resolve, reject })
      this.#timer ??= setImmediate(() => this.#turn())
    })
  }

  /** Writes everything now. */
  flush(): void {
    while (this.#waiting.length > 0) this.#turn()
  }

  #turn(): void {
    clearImmediate(this.#timer)
    this.#timer = undefined
    let count = 0
    let entries = 0
    while (count < this.#waiting.length && entries < TURN_ENTRIES) {
      entries += this.#waiting[count]?.entries.length ?? 0
      count += 1
    }
    this.#settle(this.#waiting.splice(0, count))
    if (this.#waiting.length > 0) this.#timer ??= setImmediate(() => this.#turn())
  }

  #settle(appends: readonly Waiting[]): void {
    try {
      this.#write(appends)
      for (const { resolve } of appends) resolve()
    } catch (error) {
      const [only] = appends
      if (appends.length === 1) only?.reject(error)
      // One that cannot be written is not to take the others with it.
      else for (const append of appends) this.#settle([append])
    }
  }
}
