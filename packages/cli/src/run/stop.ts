import { EXIT, SIGNAL_EXIT } from '../exit-codes.ts'
import type { Io } from '../io.ts'

/** What has to be ended. */
export interface Stoppable {
  /** How many sessions are running. */
  readonly sessions: number
  close(options: { readonly deadlineMs: number }): Promise<void>
}

/** How long things get that are ended. */
export interface StopLimits {
  /** For bots to return, once their sessions are over. */
  readonly botsMs: number
  /** After this long the command ends, whatever still hangs. */
  readonly allMs: number
}

/** Bots get what they get after every call: whoever presses Ctrl-C does not want to wait. */
const LIMITS: StopLimits = { botsMs: 3000, allMs: 10_000 }
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
  readonly #limits: StopLimits
  readonly #listeners: ReadonlyMap<StopSignal, () => void>
  readonly #requested: Promise<void>
  readonly #abort = new AbortController()
  #resolve: () => void = () => {}
  #requestedAt: number | undefined
  #timer: NodeJS.Timeout | undefined
  #running: Stoppable | undefined

  constructor(
    io: Io,
    say: (text: string) => void,
    { clock = () => performance.now(), hint = HINT, limits = LIMITS } = {},
  ) {
    this.#io = io
    this.#say = say
    this.#clock = clock
    this.#hint = hint
    this.#limits = limits
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
    await running.close({ deadlineMs: this.#limits.botsMs })
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
    }, this.#limits.allMs)
    const sessions = this.#running?.sessions ?? 0
    const what = sessions === 0 ? 'Stopping' : `Ending ${sessions} session${sessions === 1 ? '' : 's'}`
    this.#say(`${what}${this.#hint}`)
    this.#abort.abort()
    this.#resolve()
  }
}
