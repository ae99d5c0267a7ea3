import type { AgentLogFollower, StoredLogEntry } from './agent-log-store.ts'
import type { Turns } from './turns.ts'

/** Where a follower reads. */
export interface FollowedLog {
  /** Looks at some entries after a number: those that are wanted, and the last that it has looked at. Nothing if there is none yet. */
  read(after: number): { readonly entries: readonly StoredLogEntry[]; readonly at: number } | undefined
  /** The follower is closed. */
  left(follower: LogFollower): void
}

/** A reader that has its own place in a log and nothing else: what it has not read is in the database. */
export class LogFollower implements AgentLogFollower {
  readonly #log: FollowedLog
  readonly #turns: Turns
  #at: number
  #closed = false
  #isRemoved = false
  #wake: (() => void) | undefined

  constructor(log: FollowedLog, after: number, turns: Turns) {
    this.#log = log
    this.#turns = turns
    this.#at = after
  }

  /** There are new entries. */
  changed(): void {
    this.#wake?.()
  }

  get isRemoved(): boolean {
    return this.#isRemoved
  }

  /** The log is about to be removed, and nothing comes any more: it ends when it has read what is there. */
  complete(): void {
    this.#isRemoved = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<readonly StoredLogEntry[]> {
    try {
      while (!this.#closed) {
        await this.#turns.next()
        if (this.#closed) return
        const step = this.#log.read(this.#at)
        if (step === undefined) {
          if (this.#isRemoved) return
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
          this.#wake = undefined
          continue
        }
        this.#at = step.at
        if (step.entries.length > 0) yield step.entries
      }
    } finally {
      this.close()
    }
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#log.left(this)
    this.#wake?.()
  }
}
