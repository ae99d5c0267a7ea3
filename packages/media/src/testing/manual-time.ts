import { Ticker } from '@botcli/audio'

interface Alarm {
  readonly at: number
  readonly ring: () => void
}

/** A clock that only a test moves, with a ticker that obeys it. */
export class ManualTime {
  readonly ticker: Ticker
  readonly #alarms = new Set<Alarm>()
  #now = 1000

  constructor() {
    this.ticker = new Ticker({
      intervalMs: 20,
      now: this.clock,
      setTimer: (ring, ms) => {
        const alarm = { at: this.#now + ms, ring }
        this.#alarms.add(alarm)
        return () => this.#alarms.delete(alarm)
      },
    })
  }

  /** Timers of the ticker that wait; none when nobody listens to it. */
  get pending(): number {
    return this.#alarms.size
  }

  readonly clock = (): number => this.#now

  /** Lets so many steps of 20 ms pass. */
  step(steps = 1): void {
    for (let made = 0; made < steps; made += 1) {
      this.#now += 20
      for (const alarm of [...this.#alarms]) {
        if (alarm.at > this.#now || !this.#alarms.delete(alarm)) continue
        alarm.ring()
      }
    }
  }

  /** Moves the clock, without a step. */
  pass(ms: number): void {
    this.#now += ms
  }
}
