import { RunnerError } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import type { Guest, GuestCode, GuestFactory } from './guest.ts'

/** A spare that dies on its own is replaced only after this, so that a broken bot does not spin. */
const REPLACE_DELAY_MS = 2000

/** What a pool is made of. */
export interface GuestPoolOptions {
  readonly warm: number
  readonly create: GuestFactory
  readonly logger: Logger
}

interface Spare {
  readonly version: number
  readonly guest: Promise<Guest>
  loaded: boolean
}

/** Spare guests with the newest code loaded, so that a session's bot is called within milliseconds. */
export class GuestPool {
  readonly #options: GuestPoolOptions
  readonly #spares = new Set<Spare>()
  #code: GuestCode | undefined
  #refusal: RunnerError | undefined
  /** Whether the newest code speaks the wires of its callers itself, once a guest has loaded it. */
  #passThrough: boolean | undefined
  /** The last guest did not load; the next one may, when what it needs has been installed meanwhile. */
  #failing = false
  /** One for each guest that loads; aborted at the end, so that nobody waits for a bot that takes long. */
  readonly #loading = new Set<AbortController>()
  #refillTimer: NodeJS.Timeout | undefined
  #closed = false

  constructor(options: GuestPoolOptions) {
    this.#options = options
  }

  /** From now on guests run this code. Rejects when it does not load; each session will try again. */
  async use(code: GuestCode): Promise<void> {
    if (this.#closed) return
    this.#code = code
    this.#failing = false
    this.#passThrough = undefined
    this.#refusal = undefined
    this.#dropSpares()
    const first = this.#add(code)
    try {
      await first.guest
    } catch (error) {
      // What became of it does not matter when there is newer code already.
      if (this.#isNewest(first)) throw error
      return
    }
    if (this.#options.warm === 0) this.#drop(first)
    this.#refill()
  }

  /** The code is broken: new sessions are refused with this message. */
  suspend(message: string): void {
    this.#code = undefined
    this.#refusal = new RunnerError('bot_load_failed', message)
    this.#dropSpares()
  }

  /** Rejects when a session could not have a guest now. Costs nothing while the code loads well. */
  async check(): Promise<void> {
    if (this.#refusal !== undefined) throw this.#refusal
    if (!this.#failing || this.#code === undefined) return
    const spare = this.#best() ?? this.#add(this.#code)
    try {
      await spare.guest
    } catch (error) {
      if (this.#isNewest(spare)) throw error
      return this.check()
    }
    this.#refill()
  }

  /**
   * Whether a guest that is taken now will speak its caller's wire itself. Waits for a guest as long as nobody knows; the code may be
   * saved again before one is taken.
   */
  async passesThrough(): Promise<boolean> {
    if (this.#refusal !== undefined) throw this.#refusal
    if (this.#passThrough !== undefined && !this.#failing) return this.#passThrough
    // No bot in JavaScript does, so it need not be loaded to know.
    if (this.#code?.kind === 'javascript') return false
    if (this.#code === undefined || this.#closed) throw notLoaded()
    const spare = this.#best() ?? this.#add(this.#code)
    try {
      return (await spare.guest).passThrough
    } catch (error) {
      if (this.#isNewest(spare)) throw error
      return this.passesThrough()
    }
  }

  /** A guest for one session: a spare, or a new one when there is none. */
  async take(): Promise<Guest> {
    if (this.#refusal !== undefined) throw this.#refusal
    if (this.#code === undefined || this.#closed) throw notLoaded()
    const spare = this.#best() ?? this.#add(this.#code)
    this.#spares.delete(spare)
    try {
      const guest = await spare.guest
      this.#refill()
      return guest
    } catch (error) {
      if (this.#isNewest(spare)) throw error
      return this.take()
    }
  }

  /** Ends all spares. */
  async close(): Promise<void> {
    this.#closed = true
    for (const controller of this.#loading) controller.abort()
    clearTimeout(this.#refillTimer)
    const guests = [...this.#spares].map(({ guest }) => guest)
    this.#spares.clear()
    await Promise.allSettled(guests.map(async (guest) => (await guest).stop(0)))
  }

  #best(): Spare | undefined {
    const spares = [...this.#spares]
    return spares.find(({ loaded }) => loaded) ?? spares[0]
  }

  #refill(): void {
    if (this.#closed || this.#code === undefined) return
    while (this.#spares.size < this.#options.warm) {
      this.#add(this.#code).guest.catch((error: unknown) => this.#complain(error))
    }
  }

  #add(code: GuestCode): Spare {
    const spare: Spare = { version: code.version, guest: this.#create(code), loaded: false }
    this.#spares.add(spare)
    spare.guest.then(
      (loaded) => {
        spare.loaded = true
        if (this.#judge(spare, false)) this.#passThrough = loaded.passThrough
        loaded.exited.then(() => this.#lost(spare))
      },
      // Not tried again before the next session or the next save asks for it: it would fail the same way.
      () => {
        this.#spares.delete(spare)
        this.#judge(spare, true)
      },
    )
    return spare
  }

  async #create(code: GuestCode): Promise<Guest> {
    const controller = new AbortController()
    this.#loading.add(controller)
    try {
      return await this.#options.create(code, controller.signal)
    } finally {
      this.#loading.delete(controller)
    }
  }

  /** What older code did says nothing about the newest, and is false. */
  #judge(spare: Spare, failing: boolean): boolean {
    if (this.#code?.version !== spare.version) return false
    this.#failing = failing
    return true
  }

  /** Whether there is no newer code, which may do better. */
  #isNewest({ version }: Spare): boolean {
    return this.#code === undefined || this.#code.version === version
  }

  #complain(error: unknown): void {
    if (this.#closed) return
    const text = error instanceof RunnerError ? (error.detail ?? error.message) : String(error)
    this.#options.logger.error(`a spare bot could not be loaded\n${text}`)
  }

  #lost(spare: Spare): void {
    if (!this.#spares.delete(spare) || this.#closed) return
    this.#options.logger.warn('a spare bot ended on its own')
    clearTimeout(this.#refillTimer)
    this.#refillTimer = setTimeout(() => this.#refill(), REPLACE_DELAY_MS)
  }

  #dropSpares(): void {
    for (const spare of [...this.#spares]) this.#drop(spare)
  }

  #drop(spare: Spare): void {
    this.#spares.delete(spare)
    spare.guest.then(
      (guest) => guest.stop(0),
      () => {},
    )
  }
}

function notLoaded(): RunnerError {
  return new RunnerError('bot_load_failed', 'The bot is not loaded.')
}
