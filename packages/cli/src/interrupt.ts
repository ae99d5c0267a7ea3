import { SIGNAL_EXIT } from './exit-codes.ts'
import type { Io } from './io.ts'

type StopSignal = keyof typeof SIGNAL_EXIT
const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** A key press can arrive twice: from the terminal, and from a parent that passes it on. */
const SAME_PRESS_MS = 100

/** Aborts on a signal, and ends the command at once on a second one. */
export class Interrupt {
  readonly #io: Io
  readonly #clock: () => number
  readonly #abort = new AbortController()
  readonly #listeners: ReadonlyMap<StopSignal, () => void>
  #exitCode: number | undefined
  #at = 0

  constructor(io: Io, clock: () => number = () => performance.now()) {
    this.#io = io
    this.#clock = clock
    this.#listeners = new Map(SIGNALS.map((signal) => [signal, () => this.press(signal)]))
    for (const [signal, listener] of this.#listeners) io.on(signal, listener)
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** The exit code of the signal that came, if one did. */
  get exitCode(): number | undefined {
    return this.#exitCode
  }

  /** A signal, or a key that means one. */
  press(signal: StopSignal): void {
    const now = this.#clock()
    if (this.#exitCode !== undefined) {
      if (now - this.#at >= SAME_PRESS_MS) this.#io.exit(SIGNAL_EXIT[signal])
      return
    }
    this.#at = now
    this.#exitCode = SIGNAL_EXIT[signal]
    this.#abort.abort()
  }

  close(): void {
    for (const [signal, listener] of this.#listeners) this.#io.off(signal, listener)
  }
}
