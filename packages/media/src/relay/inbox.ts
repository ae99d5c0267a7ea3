import type { SocketMessage } from '@botcli/protocol'
import { Credit } from './credit.ts'

interface Waiting {
  readonly data: SocketMessage
  readonly bytes: number
}

/** The caller's messages on their way to the bot: in order, none lost, and only so many that it has not confirmed. */
export class Inbox {
  readonly #waiting: Waiting[] = []
  readonly #credit = new Credit()
  #waitingBytes = 0
  #confirmed = 0
  #send: ((data: SocketMessage) => void) | undefined

  /** Whether the caller should not be read for now. What has been read already still finds a place. */
  get full(): boolean {
    return this.#credit.isUsedUpWith(this.#waiting.length, this.#waitingBytes)
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
    if (fresh > this.#credit.messages) return false
    if (fresh <= 0) return true
    this.#confirmed = count
    this.#credit.giveBack(fresh)
    this.#flush()
    return true
  }

  #flush(): void {
    while (this.#send !== undefined) {
      const next = this.#waiting[0]
      if (next === undefined || !this.#credit.hasRoomFor(next.bytes)) return
      this.#waiting.shift()
      this.#waitingBytes -= next.bytes
      this.#credit.take(next.bytes)
      this.#send(next.data)
    }
  }
}
