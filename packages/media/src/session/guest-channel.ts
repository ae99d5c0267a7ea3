import {
  type BotStart,
  type DataFrame,
  type EndCause,
  type GuestMessage,
  type HostPort,
  hostPort,
  type IceCandidate,
  LinkProtocolError,
  type LinkStream,
  type SessionOutcome,
  type SocketMessage,
} from '@botcli/protocol'
import { FloodGate } from './flood-gate.ts'
import { GuestPulse } from './guest-pulse.ts'
import type { GuestRequests } from './guest-requests.ts'

/** Messages of a client are left out while the bot has so many bytes still to read. */
const MAX_UNREAD_BYTES = 1024 * 1024
/** Other things cannot be left out; a guest that lets so many bytes pile up does not read at all. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024

/** What a guest says about its own state, or to others than its caller, which its session need not understand. */
type OwnWord = Extract<
  GuestMessage,
  { type: 'hello' | 'ready' | 'load-failed' | 'serving' | 'response' | 'pong' | 'end' }
>
/** What a guest says to its caller, or about it. */
export type GuestWord = Exclude<GuestMessage, OwnWord>
/** What a guest may send besides words. */
export type GuestFrame = Extract<DataFrame, { kind: 'audioOut' | 'heard' | 'socket' }>

/** What a guest does, as far as its session cares. */
export interface GuestEvents {
  /** False when this has no meaning in this kind of session. */
  word(word: GuestWord): boolean
  /** Gives what is wrong with the frame, if anything. */
  frame(frame: GuestFrame): GuestOver | undefined
  /** The bot says so much that a message of it was not passed on. */
  messageLeftOut(): void
  /** The guest is done, gone or broken. Called at most once. */
  over(fault: GuestOver): void
}

/** Why a guest is over; `detail` is for the log. */
export interface GuestOver {
  readonly cause: EndCause
  readonly message: string
  readonly detail?: string
}

/** What a channel is made of. */
export interface GuestChannelOptions {
  readonly link: LinkStream
  readonly clock: () => number
  readonly maxMemoryBytes: number
  readonly requests: GuestRequests
  readonly events: GuestEvents
}

/** The host's side of one guest: speaks the link, watches over the guest, and tells once when it is over. */
export class GuestChannel {
  readonly #options: GuestChannelOptions
  readonly #port: HostPort
  readonly #gate = new FloodGate()
  readonly #pulse: GuestPulse
  #heard = 0
  #over = false
  #closing = false
  /** What went wrong after the guest was asked to finish. */
  #lastFault: GuestOver | undefined
  #settle: () => void = () => {}
  readonly #settled: Promise<void>

  constructor(options: GuestChannelOptions) {
    this.#options = options
    this.#settled = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#pulse = new GuestPulse(options.clock(), options.maxMemoryBytes)
    this.#port = hostPort(options.link, {
      message: (message) => this.#onMessage(message),
      frame: (frame) => this.#onFrame(frame),
      closed: (error) => this.#onClosed(error),
    })
  }

  start(start: BotStart): void {
    this.#port.send({ type: 'start', start })
    this.#port.resume()
    this.#options.requests.join(
      (id, request) =>
        this.#port.backlog <= MAX_UNREAD_BYTES && this.#port.trySend({ type: 'request', id, request }),
    )
  }

  connected(up: boolean): void {
    this.#port.send({ type: up ? 'connected' : 'disconnected' })
  }

  audio(capturedAt: number, samples: Int16Array): void {
    this.#port.sendAudioIn(capturedAt, samples)
  }

  /** The position travels with the next sound, or with the next step: each write wakes the guest. */
  playback(epoch: number, played: number, limit: number): void {
    this.#port.laterPlayback(epoch, played, limit)
  }

  /** Sends what waits for company. */
  flush(): void {
    this.#port.flush()
  }

  cleared(epoch: number, playedSamples: number): void {
    this.#port.send({ type: 'cleared', epoch, playedSamples })
  }

  /** False when the message was left out: it is too large, or the guest has not read the earlier ones. */
  message(data: unknown): boolean {
    return this.#port.backlog <= MAX_UNREAD_BYTES && this.#port.trySend({ type: 'message', data })
  }

  dtmf(keys: string): void {
    this.#port.send({ type: 'dtmf', keys })
  }

  /** A message of the caller's socket, for a bot that speaks that wire itself. */
  socket(data: SocketMessage): void {
    this.#port.sendSocket(data)
  }

  /** So many messages of the bot have gone to the caller's socket. */
  socketHeard(count: number): void {
    this.#port.laterHeard(count)
    this.#port.flush()
  }

  /** The caller's socket is closed; it says no more. */
  socketClosed(code: number, reason: string): void {
    this.#port.send({ type: 'socket-closed', code, reason })
  }

  /** An offer of the caller, for a bot that answers it itself. False when it is too large. */
  offer(id: number, sdp: string, restart: boolean): boolean {
    return this.#port.trySend({ type: 'offer', id, sdp, restart })
  }

  candidates(candidates: readonly IceCandidate[]): void {
    this.#port.trySend({ type: 'candidates', candidates: [...candidates] })
  }

  /** Once a second: is the guest still there? */
  beat(): void {
    if (this.#over) return
    if (this.#port.backlog > MAX_BACKLOG_BYTES) {
      this.#finish('bot_unresponsive', 'The bot does not read what it is sent.')
      return
    }
    const beat = this.#pulse.beat(this.#options.clock())
    if (typeof beat === 'number') this.#port.send({ type: 'ping', id: beat })
    else this.#finish(beat.cause, beat.message)
  }

  /**
   * Ends the conversation with the guest, which gets until the deadline to finish what it does. Gives what went wrong
   * with that, because nobody else will hear of it.
   */
  async close(outcome: SessionOutcome, deadlineMs: number): Promise<GuestOver | undefined> {
    if (!this.#over) {
      this.#closing = true
      this.#port.send({ type: 'cancel', cause: outcome.cause, message: outcome.message, deadlineMs })
      const timer = setTimeout(() => this.#settle(), deadlineMs)
      await this.#settled
      clearTimeout(timer)
      if (!this.#over && deadlineMs > 0) this.#lastFault = stayed(deadlineMs)
    }
    this.#over = true
    // The end of a stream that nobody reads is never seen, and the stream never freed.
    this.#port.resume()
    this.#port.close()
    return this.#lastFault
  }

  #onMessage(message: GuestMessage): void {
    const { events, clock, requests } = this.#options
    if (!this.#admit() && message.type === 'message') {
      events.messageLeftOut()
      return
    }
    switch (message.type) {
      case 'pong': {
        this.#pulse.alive(clock())
        const fault = this.#pulse.weigh(message.rss)
        if (fault !== undefined) this.#finish(fault.cause, fault.message)
        break
      }
      case 'serving':
        requests.serving()
        break
      case 'response':
        requests.answered(message)
        break
      case 'end':
        if (message.outcome === 'returned') this.#finish('bot_returned', 'The bot is done.')
        else this.#finish('bot_failed', failure(message.error), message.error?.stack)
        break
      case 'hello':
      case 'ready':
      case 'load-failed':
        this.#finish('bot_failed', `The bot's process said ${message.type} in the middle of a session.`)
        break
      default:
        if (!events.word(message)) {
          const text = `The bot's process said ${message.type}, which has no meaning in this session.`
          this.#finish('bot_failed', text)
        }
    }
  }

  /** Whether the bot stays under what it may say; one that never stops is given up. */
  #admit(): boolean {
    const admitted = this.#gate.admit(this.#options.clock())
    if (this.#gate.flooded) {
      this.#finish('bot_flooded', 'The bot sent messages without end: more than 5000 a second.')
    }
    return admitted
  }

  #onFrame(frame: DataFrame): void {
    if (frame.kind === 'audioIn' || frame.kind === 'playback') {
      this.#finish(
        'bot_failed',
        `The bot's process sent a ${frame.kind} frame, which only its host may send.`,
      )
    } else {
      const fault = this.#options.events.frame(frame)
      if (fault !== undefined) this.#finish(fault.cause, fault.message)
    }
    if (!this.#isBounded(frame)) this.#admit()
  }

  /** Messages of a socket have a credit of their own, and what was sent is confirmed once; a bot may be as fast as its caller. */
  #isBounded(frame: DataFrame): boolean {
    if (frame.kind === 'socket') return true
    if (frame.kind !== 'heard' || frame.frames <= this.#heard) return false
    this.#heard = frame.frames
    return true
  }

  #onClosed(error: Error | undefined): void {
    if (error instanceof LinkProtocolError) {
      this.#finish('bot_failed', `The bot's process broke the link protocol: ${error.message}`)
    } else this.#finish('bot_exited', "The bot's process ended before the bot was done.")
  }

  #finish(cause: EndCause, message: string, detail?: string): void {
    if (this.#over) return
    this.#over = true
    this.#settle()
    const fault = { cause, message, ...(detail === undefined ? {} : { detail }) }
    if (!this.#closing) this.#options.events.over(fault)
    else if (cause === 'bot_failed') this.#lastFault = fault
  }
}

function stayed(deadlineMs: number): GuestOver {
  const message = `The bot had not returned ${deadlineMs / 1000} seconds after its session was over.`
  return { cause: 'bot_unresponsive', message }
}

function failure(error: { readonly name: string; readonly message: string } | undefined): string {
  return error === undefined ? 'The bot failed.' : `The bot failed: ${error.name}: ${error.message}`
}
