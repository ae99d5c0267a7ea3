import type { LogFollower, LogSlice } from './log-store.ts'
import type { LogListener, SegmentLog } from './segment-log.ts'

/** A reader that has its own place in a log and nothing else: what it has not read is in the file. */
export class SegmentLogFollower implements LogFollower, LogListener {
  readonly #log: SegmentLog
  #at: number
  #closed = false
  #wake: (() => void) | undefined

  constructor(log: SegmentLog, from: number) {
    this.#log = log
    this.#at = from
    log.listen(this)
  }

  changed(): void {
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LogSlice> {
    try {
      while (!this.#closed && !this.#log.gone) {
        const batch = this.#log.batch(this.#at)
        if (batch !== undefined) {
          this.#at = batch.end
          yield batch
        } else if (this.#log.sealed) {
          return
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
          this.#wake = undefined
        }
      }
    } finally {
      this.close()
    }
  }

  close(): void {
    this.#closed = true
    this.#log.unlisten(this)
    this.#wake?.()
  }
}
