import type { SocketMessage } from '@botcli/protocol'

/** What a bot may have been sent without having confirmed it. */
const MAX_MESSAGES = 100
const MAX_BYTES = 1024 * 1024

interface Waiting {
  readonly data: SocketMessage
  readonly bytes: number
}

/** The caller's messages on their way to the bot: in order, none lost, and only so many that it has not confirmed. */
export class Inbox {
  readonly #waiting: Waiting[] = []
  /** The sizes of what was sent and not confirmed, the oldest first. */
  readonly #unconfirmed: number[] = []
  #waitingBytes = 0
  #unconfirmedBytes = 0
  #confirmed = 0
  #send: ((data: SocketMessage) => void) | undefined

  /** Whether the caller should not be read for now. What has been read already still finds a place. */
  get full(): boolean {
    const messages = this.#waiting.length + this.#unconfirmed.length
    return messages >= MAX_MESSAGES || this.#waitingBytes + this.#unconfirmedBytes >= MAX_BYTES
  }

  /** Whether everything is on its way. */
  get empty(): boolean {
    return this.#waiting.length === 0
  }

  /** From now on there is somebody to send to. */
  open(send: (data: SocketMessage) => void): void {
    this.#send = send
    this.#flush()
  }

  push(data: SocketMessage, bytes: number): void {
    this.#waiting.push({ data, bytes })
    this.#waitingBytes += bytes
    this.#flush()
  }

  /** The bot has taken in so many messages in all. False when it was never sent so many. */
  confirm(count: number): boolean {
    const fresh = count - this.#confirmed
    if (fresh > this.#unconfirmed.length) return false
    if (fresh <= 0) return true
    this.#confirmed = count
    for (const bytes of this.#unconfirmed.splice(0, fresh)) this.#unconfirmedBytes -= bytes
    this.#flush()
    return true
  }

  #flush(): void {
    while (this.#send !== undefined) {
      const next = this.#waiting[0]
      if (next === undefined || !this.#hasRoomFor(next.bytes)) return
      this.#waiting.shift()
      this.#waitingBytes -= next.bytes
      this.#unconfirmed.push(next.bytes)
      this.#unconfirmedBytes += next.bytes
      this.#send(next.data)
    }
  }

  /** The largest message fits when nothing else is on its way. */
  #hasRoomFor(bytes: number): boolean {
    if (this.#unconfirmed.length >= MAX_MESSAGES) return false
    return this.#unconfirmed.length === 0 || this.#unconfirmedBytes + bytes <= MAX_BYTES
  }
}
