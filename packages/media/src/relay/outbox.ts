import { Credit } from './credit.ts'

/** A bot wants to know at least this often what its caller's socket has taken. */
const CONFIRM_EVERY = 5

/** The bot's messages on their way to the caller. The bot is told when they have left, and until then may send only so many. */
export class Outbox {
  readonly #confirm: (count: number) => void
  readonly #credit = new Credit()
  #left = 0
  #confirmed = 0

  constructor(confirm: (count: number) => void) {
    this.#confirm = confirm
  }

  /** How many have left so far. */
  get left(): number {
    return this.#left
  }

  get empty(): boolean {
    return this.#credit.messages === 0
  }

  /** A message comes from the bot. False when the bot may not send it yet. */
  take(bytes: number): boolean {
    if (!this.#credit.hasRoomFor(bytes)) return false
    this.#credit.take(bytes)
    return true
  }

  /** The oldest one has left, or is dropped because there is nobody any more. */
  leave(): void {
    this.#credit.giveBack(1)
    this.#left += 1
    if (!this.empty && this.#left - this.#confirmed < CONFIRM_EVERY) return
    this.#confirmed = this.#left
    this.#confirm(this.#left)
  }
}
