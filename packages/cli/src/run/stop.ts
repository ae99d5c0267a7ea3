import { EXIT, SIGNAL_EXIT } from '../exit-codes.ts'
import type { Io } from '../io.ts'

/** What has to be ended. */
export interface Stoppable {
  /** How many sessions are running. */
  readonly sessions: number
  close(options: { readonly deadlineMs: number }): Promise<void>
}

/** Sessions get this long to end. */
const CLOSE_DEADLINE_MS = 8000
/** After this long the command ends, whatever still hangs. */
const EXIT_DEADLINE_MS = 10_000
/** A key press can arrive twice: from the terminal, and from a parent that passes it on. */
const SAME_PRESS_MS = 100
/** For whoever sits at a terminal. */
const HINT = '… press Ctrl-C again to stop at once'

type StopSignal = keyof typeof SIGNAL_EXIT
const SIGNALS: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP']

/** Ends a runner on a signal, and at once on a second one. Made before the runner, so that no signal is lost. */
export class Stop {
  readonly #io: Io
  readonly #clock: () => number
  readonly #say: (text: string) => void
  readonly #hint: string
  readonly #listeners: ReadonlyMap<StopSignal, () => void>
  readonly #requested: Promise<void>
  readonly #abort = new AbortController()
  #resolve: () => void = () => {}
  #requestedAt: number | undefined
  #timer: NodeJS.Timeout | undefined
  #running: Stoppable | undefined

  constructor(io: Io, say: (text: string) => void, { clock = () => performance.now(), hint = HINT } = {}) {
    this.#io = io
    this.#say = say
    this.#clock = clock
    this.#hint = hint
    this.#requested = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.#listeners = new Map(SIGNALS.map((signal) => [signal, () => this.#signalled(signal)]))
    for (const [signal, listener] of this.#listeners) io.on(signal, listener)
  }

  /** Aborted when a signal has come. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** True when a signal has come. */
  get requested(): boolean {
    return this.#requestedAt !== undefined
  }

  /** Waits for a signal, then ends the runner and gives the exit code. */
  async wait(running: Stoppable): Promise<number> {
    this.#running = running
    await this.#requested
    await running.close({ deadlineMs: CLOSE_DEADLINE_MS })
    return EXIT.ok
  }

  /** Stops without a signal. */
  request(): void {
    if (this.#requestedAt === undefined) this.#stop()
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const [signal, listener] of this.#listeners) this.#io.off(signal, listener)
  }

  #signalled(signal: StopSignal): void {
    if (this.#requestedAt === undefined) this.#stop()
    else if (this.#clock() - this.#requestedAt >= SAME_PRESS_MS) this.#io.exit(SIGNAL_EXIT[signal])
  }

  #stop(): void {
    this.#requestedAt = this.#clock()
    this.#timer = setTimeout(() => {
      this.#say('It did not end in time and is stopped now')
      this.#io.exit(EXIT.failed)
    }, EXIT_DEADLINE_MS)
    const sessions = this.#running?.sessions ?? 0
    const what = sessions === 0 ? 'Stopping' : `Ending ${sessions} session${sessions === 1 ? '' : 's'}`
    this.#say(`${what}${this.#hint}`)
    this.#abort.abort()
    this.#resolve()
  }
}
