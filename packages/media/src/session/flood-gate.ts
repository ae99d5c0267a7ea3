/** What a talkative but honest bot stays under. */
const PER_WINDOW = 5000
const WINDOW_MS = 1000
/** A bot that uses up so many windows in a row is broken. */
const MAX_FULL_WINDOWS = 3

/**
 * Lets a bot say so much a second, and tells when it never stops. What comes on top is read and left out: a link that is not
 * read would hide the bot's last word.
 */
export class FloodGate {
  #windowEndsAt = 0
  #count = 0
  #fullWindows = 0

  /** Counts one message or frame. True while the bot stays under its limit. */
  admit(now: number): boolean {
    if (now >= this.#windowEndsAt) this.#nextWindow(now)
    this.#count += 1
    return this.#count <= PER_WINDOW
  }

  /** Whether the bot has said too much for too long. */
  get flooded(): boolean {
    return this.#fullWindows >= MAX_FULL_WINDOWS
  }

  #nextWindow(now: number): void {
    const full = this.#count >= PER_WINDOW && now - this.#windowEndsAt < WINDOW_MS
    this.#fullWindows = full ? this.#fullWindows + 1 : 0
    this.#count = 0
    this.#windowEndsAt = now + WINDOW_MS
  }
}
