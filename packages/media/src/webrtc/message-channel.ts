import type { DataChannel } from 'node-datachannel'
import type { Log } from './log.ts'

const MAX_QUEUED = 100
const MAX_QUEUED_BYTES = 256 * 1024
/** Beyond this the client does not take what we send, and more would only fill memory. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024

/** The messages to the client: they wait here while there is no open data channel, within bounds. */
export class MessageChannel {
  readonly #log: Log
  readonly #queue: string[] = []
  #queuedBytes = 0
  #channel: DataChannel | undefined

  constructor(log: Log) {
    this.#log = log
  }

  /** Bytes that the client has not taken yet. */
  get backlog(): number {
    return this.#queuedBytes + this.#buffered()
  }

  /** Bytes that the open channel still has to send. */
  get unsent(): number {
    return this.#buffered()
  }

  /** Sends from now on over this channel, beginning with what waits. */
  open(channel: DataChannel): void {
    this.#channel = channel
    this.#queuedBytes = 0
    for (const text of this.#queue.splice(0)) this.#transmit(channel, text)
  }

  /** Keeps what is sent from now on until another channel opens. */
  shut(): void {
    this.#channel = undefined
  }

  /** False when the message was left out; the log says why. */
  send(message: unknown): boolean {
    const text = JSON.stringify(message)
    if (text === undefined) return false
    return this.#channel === undefined ? this.#enqueue(text) : this.#transmit(this.#channel, text)
  }

  #transmit(channel: DataChannel, text: string): boolean {
    const bytes = Buffer.byteLength(text)
    try {
      const limit = channel.maxMessageSize()
      if (bytes > limit) {
        this.#log('a message was left out: it is larger than the client takes', { bytes, limit })
      } else if (channel.bufferedAmount() > MAX_BUFFERED_BYTES) {
        this.#log('a message was left out: the client does not take any', { bytes })
      } else {
        channel.sendMessage(text)
        return true
      }
    } catch (error) {
      // The channel closed under our hands; its closing is told by its own event.
      this.#log('a message could not be sent', { error: String(error) })
    }
    return false
  }

  #enqueue(text: string): boolean {
    const bytes = Buffer.byteLength(text)
    if (this.#queue.length >= MAX_QUEUED || this.#queuedBytes + bytes > MAX_QUEUED_BYTES) {
      this.#log('a message was left out: too many wait for the data channel', { waiting: this.#queue.length })
      return false
    }
    this.#queue.push(text)
    this.#queuedBytes += bytes
    return true
  }

  #buffered(): number {
    try {
      return this.#channel?.bufferedAmount() ?? 0
    } catch {
      return 0
    }
  }
}
