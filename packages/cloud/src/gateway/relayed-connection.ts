import { connect, type Socket } from 'node:net'
import { AnswerHeadReader } from './answer-head.ts'
import type { RelayedCall } from './relay-messages.ts'

/** How long a connection may take to come about, and to end once one side has. */
export interface RelayLimits {
  readonly connectMs: number
  /** From `go` to the answer of the instance. */
  readonly answerMs: number
  readonly endMs: number
}

/** Who is told how it goes. */
export interface RelayEvents {
  reached(): void
  unreached(why: string): void
  /** Both ends are closed. */
  over(): void
}

/** A caller may be silent for as long as it likes, but it must be there. */
const KEEP_ALIVE_MS = 30_000
/** Of an answer that refuses, no more is kept. */
const MAX_REFUSAL_BYTES = 1024 * 1024

/**
 * A caller, an instance, and the bytes between them. Nothing that the caller sends reaches the instance before that has agreed to the
 * upgrade: it would be read as further requests.
 */
export class RelayedConnection {
  readonly #caller: Socket
  readonly #instance: Socket
  readonly #call: RelayedCall
  readonly #limits: RelayLimits
  readonly #events: RelayEvents
  readonly #answer = new AnswerHeadReader()
  #state: 'connecting' | 'reached' | 'unreached' | 'asking' | 'joined' | 'refused' = 'connecting'
  #timer: NodeJS.Timeout | undefined

  constructor(caller: Socket, call: RelayedCall, limits: RelayLimits, events: RelayEvents) {
    this.#caller = caller
    this.#call = call
    this.#limits = limits
    this.#events = events
    caller.allowHalfOpen = true
    caller.setNoDelay(true)
    caller.setKeepAlive(true, KEEP_ALIVE_MS)
    caller.on('error', () => {})
    caller.once('close', () => this.#onCallerClose())
    this.#instance = connect({ path: call.socketPath, allowHalfOpen: true })
    this.#instance.once('connect', () => this.#onConnect())
    this.#instance.on('error', (error) => this.#onInstanceLost(error.message))
    this.#instance.once('close', () => this.#onInstanceClose())
    this.#limit(limits.connectMs, () => {
      this.#instance.destroy()
      this.#onInstanceLost('it took too long')
    })
  }

  /** Whether it is the control plane's turn to say how it goes on. */
  get isWaiting(): boolean {
    return this.#state === 'reached' || this.#state === 'unreached'
  }

  /** Asks the instance. If it is lost by now, the caller is told so. */
  go(): void {
    if (this.#state !== 'reached') {
      this.refuse()
      return
    }
    this.#state = 'asking'
    this.#limit(this.#limits.answerMs, () => this.refuse())
    this.#instance.on('data', this.#onAnswer)
    this.#instance.once('end', () => this.#onInstanceLost('it ended'))
    this.#instance.write(Buffer.from(this.#call.request, 'base64'))
  }

  /** Tells the caller that there is nobody to speak to. */
  refuse(): void {
    if (this.#state === 'refused' || this.#state === 'joined') return
    this.#state = 'refused'
    this.#endBoth(Buffer.from(this.#call.failure, 'base64'))
  }

  /** Ends both at once. */
  drop(): void {
    this.#caller.destroy()
    this.#instance.destroy()
  }

  #onConnect(): void {
    this.#state = 'reached'
    // The control plane answers at once, or is gone, which is noticed as well.
    clearTimeout(this.#timer)
    this.#events.reached()
  }

  #onInstanceLost(why: string): void {
    if (this.#state === 'asking') this.refuse()
    if (this.#state === 'reached') this.#state = 'unreached'
    if (this.#state !== 'connecting') return
    this.#state = 'unreached'
    clearTimeout(this.#timer)
    this.#events.unreached(why)
  }

  readonly #onAnswer = (chunk: Buffer): void => {
    const head = this.#answer.take(chunk)
    if (head === undefined) return
    this.#instance.off('data', this.#onAnswer)
    if (head === 'invalid') this.refuse()
    else if (head.isUpgrade) this.#join(this.#answer.bytes)
    else this.#passRefusal(this.#answer.bytes, head.size)
  }

  #join(bytes: Buffer): void {
    this.#state = 'joined'
    clearTimeout(this.#timer)
    const onEnd = (): void => this.#limit(this.#limits.endMs, () => this.drop())
    this.#caller.once('end', onEnd)
    this.#instance.once('end', onEnd)
    this.#caller.write(bytes)
    this.#instance.write(Buffer.from(this.#call.early, 'base64'))
    this.#caller.pipe(this.#instance)
    this.#instance.pipe(this.#caller)
  }

  /** The answer of the instance goes to the caller. */
  #passRefusal(bytes: Buffer, size = Number.POSITIVE_INFINITY): void {
    this.#state = 'refused'
    const all = [bytes]
    let length = bytes.length
    const end = (): void => this.#endBoth(Buffer.concat(all).subarray(0, size))
    this.#limit(this.#limits.endMs, end)
    if (length >= size) {
      end()
      return
    }
    this.#instance.on('data', (chunk: Buffer) => {
      all.push(chunk)
      length += chunk.length
      if (length >= size || length > MAX_REFUSAL_BYTES) end()
    })
    this.#instance.once('end', end)
  }

  #endBoth(last: Buffer): void {
    this.#instance.destroy()
    this.#limit(this.#limits.endMs, () => this.drop())
    this.#caller.resume()
    this.#caller.end(last)
  }

  #onCallerClose(): void {
    if (this.#state === 'joined') this.#instance.destroySoon()
    else this.#instance.destroy()
    this.#onClose()
  }

  #onInstanceClose(): void {
    if (this.#state === 'joined') this.#caller.destroySoon()
    this.#onClose()
  }

  #onClose(): void {
    if (!this.#caller.closed || !this.#instance.closed) {
      if (this.#state === 'joined') this.#limit(this.#limits.endMs, () => this.drop())
      return
    }
    clearTimeout(this.#timer)
    this.#events.over()
  }

  #limit(ms: number, act: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(act, ms)
  }
}
