import type { After } from '../logs/response-stream.ts'

/** Timers of a time that passes only when a test says so. */
export class ManualTimers {
  #timers: { readonly ms: number; readonly act: () => void }[] = []

  readonly after: After = (ms, act) => {
    const timer = { ms, act }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((one) => one !== timer)
    }
  }

  /** How long those that wait will wait. */
  get waiting(): readonly number[] {
    return this.#timers.map(({ ms }) => ms)
  }

  /** Lets so much time pass. */
  pass(ms: number): void {
    const due = this.#timers.filter((timer) => timer.ms <= ms)
    this.#timers = this.#timers.filter((timer) => timer.ms > ms)
    for (const { act } of due) act()
  }
}
