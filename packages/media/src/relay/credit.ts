/** What may be on its way in one direction without having been confirmed. */
const MAX_MESSAGES = 100
const MAX_BYTES = 1024 * 1024

/** Messages of a socket that are on their way over the link: how many, and how large. */
export class Credit {
  /** The oldest first. */
  readonly #sizes: number[] = []
  #bytes = 0

  get messages(): number {
    return this.#sizes.length
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Whether another one may go. The largest fits when nothing else is on its way. */
  hasRoomFor(bytes: number): boolean {
    if (this.messages >= MAX_MESSAGES) return false
    return this.messages === 0 || this.#bytes + bytes <= MAX_BYTES
  }

  take(bytes: number): void {
    this.#sizes.push(bytes)
    this.#bytes += bytes
  }

  /** The oldest of them have arrived. */
  giveBack(count: number): void {
    for (const bytes of this.#sizes.splice(0, count)) this.#bytes -= bytes
  }

  /** Whether so much, and this much more, leaves no room. */
  isUsedUpWith(messages: number, bytes: number): boolean {
    return this.messages + messages >= MAX_MESSAGES || this.#bytes + bytes >= MAX_BYTES
  }
}
