import type { SetTimer } from '@botcli/audio'
import { malformedMessages } from './malformed.ts'
import type { Misbehaviours } from './misbehaviours.ts'

/** One packet in so many is late. */
const LATE_ONE_IN = 10
/** Far more than jitter can hold back. */
const MAX_WAITING = 2000

/** What was done to packets, by what it is called. */
export type Mischief = Readonly<Record<'lost' | 'late' | 'duplicated' | 'malformed', number>>

/** What a line needs. */
export interface LineOptions {
  readonly misbehaviours: Misbehaviours
  readonly random: () => number
  readonly clock: () => number
  readonly setTimer: SetTimer
  readonly send: (message: string | Uint8Array) => void
}

/** The way from the carrier to the runner, and all that can go wrong on it. */
export class Line {
  readonly #options: LineOptions
  readonly #cancels = new Set<() => void>()
  readonly #mischief = { lost: 0, late: 0, duplicated: 0, malformed: 0 }
  #waiting: { readonly dueAt: number; readonly message: string }[] = []
  #cancelWaiting: (() => void) | undefined
  #badMessages: readonly (string | Uint8Array)[] = []
  #muted = false

  constructor(options: LineOptions) {
    this.#options = options
  }

  get mischief(): Mischief {
    return { ...this.#mischief }
  }

  /** Sends a packet of sound, which can get lost, late, doubled or followed by nonsense. */
  media(message: string): void {
    const { late = 0 } = this.#options.misbehaviours
    if (this.#happens('loss')) {
      this.#mischief.lost += 1
    } else if (late > 0 && this.#options.random() < 1 / LATE_ONE_IN) {
      this.#mischief.late += 1
      this.#later(message, late)
    } else this.message(message)
    if (this.#happens('duplicate')) {
      this.#mischief.duplicated += 1
      this.message(message)
    }
    if (this.#happens('malformed')) {
      if (this.#badMessages.length === 0) this.#badMessages = malformedMessages(message)
      const bad = this.#badMessages[this.#mischief.malformed % this.#badMessages.length]
      this.#mischief.malformed += 1
      if (bad !== undefined && !this.#muted) this.#options.send(bad)
    }
  }

  /** Sends what always comes through, behind everything before it. */
  message(message: string): void {
    const { misbehaviours, random, clock } = this.#options
    const { jitter = 0 } = misbehaviours
    if (jitter === 0) {
      this.#send(message)
      return
    }
    if (this.#waiting.length >= MAX_WAITING) return
    const last = this.#waiting.at(-1)?.dueAt ?? 0
    this.#waiting.push({ dueAt: Math.max(last, clock() + random() * jitter), message })
    this.#cancelWaiting ??= this.#arm()
  }

  /** Sends at once what waits. */
  flush(): void {
    for (const { message } of this.#waiting) this.#send(message)
    this.#waiting = []
    this.#cancelWaiting?.()
    this.#cancelWaiting = undefined
  }

  /** Nothing is sent any more. */
  close(): void {
    this.#muted = true
    this.#waiting = []
    this.#cancelWaiting?.()
    for (const cancel of this.#cancels) cancel()
    this.#cancels.clear()
  }

  #arm(): (() => void) | undefined {
    const [next] = this.#waiting
    if (next === undefined) return undefined
    return this.#options.setTimer(
      () => {
        this.#cancelWaiting = undefined
        const now = this.#options.clock()
        const due = this.#waiting.findIndex(({ dueAt }) => dueAt > now)
        const ready = this.#waiting.splice(0, due === -1 ? this.#waiting.length : due)
        for (const { message } of ready) this.#send(message)
        this.#cancelWaiting ??= this.#arm()
      },
      Math.max(1, next.dueAt - this.#options.clock()),
    )
  }

  #later(message: string, ms: number): void {
    const cancel = this.#options.setTimer(() => {
      this.#cancels.delete(cancel)
      this.#send(message)
    }, ms)
    this.#cancels.add(cancel)
  }

  #happens(what: 'loss' | 'duplicate' | 'malformed'): boolean {
    const share = this.#options.misbehaviours[what] ?? 0
    return share > 0 && this.#options.random() * 100 < share
  }

  #send(message: string | Uint8Array): void {
    if (!this.#muted) this.#options.send(message)
  }
}
