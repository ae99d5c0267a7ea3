/** What a talkative but honest bot stays under. */
const MESSAGES_PER_WINDOW = 500
const WINDOW_MS = 100
/** A bot that uses up so many windows in a row is broken: three seconds. */
const MAX_FULL_WINDOWS = 30

/** Lets a bot say so many messages a moment, makes it wait beyond that, and tells when it never stops. */
export class FloodGate {
  #windowEndsAt = 0
  #count = 0
  #fullWindows = 0

  /** Counts one message. True while the bot may go on. */
  admit(now: number): boolean {
    if (now >= this.#windowEndsAt) this.#nextWindow(now)
    this.#count += 1
    return this.#count < MESSAGES_PER_WINDOW
  }

  /** Whether the bot has said too much for too long. */
  get flooded(): boolean {
    return this.#fullWindows >= MAX_FULL_WINDOWS
  }

  /** Milliseconds until the bot may go on. */
  waitMs(now: number): number {
    return Math.max(1, this.#windowEndsAt - now)
  }

  #nextWindow(now: number): void {
    const full = this.#count >= MESSAGES_PER_WINDOW && now - this.#windowEndsAt < WINDOW_MS
    this.#fullWindows = full ? this.#fullWindows + 1 : 0
    this.#count = 0
    this.#windowEndsAt = now + WINDOW_MS
  }
}
