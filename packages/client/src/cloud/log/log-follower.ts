import { ApiError } from '../api/api-error.ts'
import type { LogLine } from './log-lines.ts'
import type { LogEnd, OpenLog } from './log-stream.ts'

/** The cloud says something every 15 seconds. */
const SILENCE_MS = 40_000
const FIRST_RETRY_MS = 1_000
const LAST_RETRY_MS = 15_000

/** Calls back later; gives what takes that back. */
export type Later = (ms: number, action: () => void) => () => void

/** Whoever wants to know. */
export interface LogListener {
  lines(lines: readonly LogLine[]): void
  /** The connection stands, or was lost and is tried again. */
  connected(connected: boolean): void
  /** The log is complete. */
  ended(end: LogEnd): void
  /** The log cannot be read. */
  refused(error: ApiError): void
}

/** Follows one log to its end, over cut connections, and gives every line once. */
export class LogFollower {
  readonly #open: OpenLog
  readonly #listener: LogListener
  readonly #later: Later
  readonly #closing = new AbortController()
  #lastId: string | undefined
  #retryMs = FIRST_RETRY_MS

  constructor(open: OpenLog, listener: LogListener, later: Later = realLater) {
    this.#open = open
    this.#listener = listener
    this.#later = later
  }

  /** Resolves when the log is complete, cannot be read, or this was closed. */
  async run(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      try {
        if (await this.#read()) return
      } catch (error) {
        if (this.#closing.signal.aborted) return
        if (error instanceof ApiError && isFinal(error)) {
          this.#listener.refused(error)
          return
        }
      }
      if (this.#closing.signal.aborted) return
      this.#listener.connected(false)
      await this.#pause()
    }
  }

  close(): void {
    this.#closing.abort()
  }

  /** Reads one connection; true when it came to the end of the log. */
  async #read(): Promise<boolean> {
    const attempt = new AbortController()
    const stop = (): void => attempt.abort()
    this.#closing.signal.addEventListener('abort', stop, { once: true })
    let cancel = this.#later(SILENCE_MS, stop)
    try {
      const pieces = await this.#open(this.#lastId, attempt.signal)
      this.#listener.connected(true)
      for await (const { lines, lastId, end } of pieces) {
        if (this.#closing.signal.aborted) return true
        cancel()
        cancel = this.#later(SILENCE_MS, stop)
        this.#retryMs = FIRST_RETRY_MS
        this.#lastId = lastId ?? this.#lastId
        if (lines.length > 0) this.#listener.lines(lines)
        if (end !== undefined) {
          this.#listener.ended(end)
          return true
        }
      }
      return false
    } finally {
      cancel()
      this.#closing.signal.removeEventListener('abort', stop)
    }
  }

  async #pause(): Promise<void> {
    const { signal } = this.#closing
    const ms = this.#retryMs
    this.#retryMs = Math.min(LAST_RETRY_MS, ms * 2)
    await new Promise<void>((resolve) => {
      const cancel = this.#later(ms, done)
      function done(): void {
        cancel()
        signal.removeEventListener('abort', done)
        resolve()
      }
      signal.addEventListener('abort', done, { once: true })
    })
  }
}

/** Whether asking again would give the same. */
function isFinal({ status }: ApiError): boolean {
  return status >= 400 && status < 500 && status !== 429 && status !== 408
}

const realLater: Later = (ms, action) => {
  const timer = setTimeout(action, ms)
  return () => clearTimeout(timer)
}

/** Reads the lines from one number, which is not 0, up to another, which is not among them. */
export async function readRange(
  open: OpenLog,
  from: number,
  to: number,
  signal: AbortSignal,
): Promise<readonly LogLine[]> {
  const stop = new AbortController()
  const range: LogLine[] = []
  const limit = AbortSignal.any([signal, stop.signal])
  try {
    for await (const { lines } of await open(String(from - 1), limit)) {
      for (const line of lines) {
        if (line.number < to) range.push(line)
        // One line may stand for many; those of them that are held already stay as they are.
        else if ((range.at(-1)?.number ?? from - 1) < to - 1) range.push({ ...line, number: to - 1 })
        if (line.number >= to - 1) return range
      }
    }
    throw new ApiError(0, 'CUT', 'The connection was cut before the older lines were all there.')
  } finally {
    stop.abort()
  }
}
