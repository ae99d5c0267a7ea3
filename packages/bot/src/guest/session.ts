import type { BotStart, GuestMessage, GuestPort, HostMessage } from '@botcli/protocol'
import { argumentsOf, type RunnerArguments } from '../arguments.ts'
import {
  type HostFrame,
  type RequestHandler,
  registerSession,
  type SessionPort,
  type SessionReceiver,
} from '../session-port.ts'
import type { EndReason } from '../transport.ts'
import { RequestServer } from './request-server.ts'

/** Messages that are kept for a bot that has not made its transport yet. */
const EARLY_LIMIT = 256

/** What a session asks of the guest that runs it. */
export interface SessionOwner {
  fail(error: unknown): void
  finish(): void
}

/** One caller's session inside a guest: between the link and the transport that the bot makes, or does not make. */
export class GuestSession implements SessionPort {
  readonly start: BotStart
  readonly args: RunnerArguments
  readonly #port: GuestPort
  readonly #owner: SessionOwner
  readonly #requests = new RequestServer((message) => this.send(message))
  /** Set until the transport has been given what came before it. */
  #early: HostMessage[] | undefined = []
  #warned = false
  #receiver: SessionReceiver | undefined
  #endReason: EndReason | undefined

  constructor(start: BotStart, port: GuestPort, owner: SessionOwner) {
    this.start = start
    this.args = argumentsOf(start)
    this.#port = port
    this.#owner = owner
    registerSession(this.args, this)
  }

  get endReason(): EndReason | undefined {
    return this.#endReason
  }

  get attached(): boolean {
    return this.#receiver !== undefined
  }

  get backlog(): number {
    return this.#port.backlog
  }

  attach(receiver: SessionReceiver): void {
    this.#receiver = receiver
    // The bot sets its listeners right after it got its transport, which is before this.
    setImmediate(() => this.#deliverEarly())
  }

  send(message: GuestMessage): void {
    if (this.#endReason === undefined) this.#port.send(message)
  }

  sendAudioOut(epoch: number, samples: Int16Array): void {
    if (this.#endReason === undefined) this.#port.sendAudioOut(epoch, samples)
  }

  /** A bot that answers does so within this turn, and then both can go in one write. */
  sendHeard(frames: number): void {
    if (this.#endReason !== undefined) return
    this.#port.laterHeard(frames)
    setImmediate(() => this.#port.flush())
  }

  serve(handler: RequestHandler): void {
    this.#requests.serve(handler)
  }

  fail(error: unknown): void {
    this.#owner.fail(error)
  }

  finish(): void {
    this.#owner.finish()
  }

  /** A message of the host for the bot. */
  message(message: HostMessage): void {
    if (this.#endReason !== undefined) return
    if (message.type === 'request') {
      void this.#requests.answer(message.id, message.request)
      return
    }
    const state = message.type === 'connected' || message.type === 'disconnected'
    if (this.#early === undefined) this.#deliver(message)
    else if (state || this.#early.length < EARLY_LIMIT) this.#early.push(message)
    else this.#warnOfLoss()
  }

  /** A frame of the host; none comes before the transport is there. */
  frame(frame: HostFrame): void {
    if (this.#endReason === undefined) this.#receiver?.frame(frame)
  }

  /** The session is over. The first reason stays. */
  end(reason: EndReason): void {
    if (this.#endReason !== undefined) return
    this.#deliverEarly()
    this.#endReason = reason
    this.#receiver?.ended(reason)
  }

  /** Resolves when the caller has heard everything. */
  async drained(): Promise<void> {
    await this.#receiver?.drained()
  }

  #warnOfLoss(): void {
    if (this.#warned) return
    this.#warned = true
    process.emitWarning(
      `the client sent more than ${EARLY_LIMIT} messages before the bot made its transport; the later ones are lost. Call createTransport() earlier`,
    )
  }

  #deliverEarly(): void {
    if (this.#receiver === undefined) return
    const early = this.#early ?? []
    this.#early = undefined
    for (const message of early) this.#deliver(message)
  }

  /** What the transport throws is the bot's doing, and must not reach the link, which others may share. */
  #deliver(message: HostMessage): void {
    try {
      this.#receiver?.message(message)
    } catch (error) {
      this.fail(error)
    }
  }
}
