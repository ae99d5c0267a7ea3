import {
  type BotStart,
  type EndCause,
  type GuestMessage,
  type HostPort,
  hostPort,
  type LinkFrame,
  LinkProtocolError,
  type LinkStream,
  type SessionOutcome,
} from '@botcli/protocol'
import { FloodGate } from './flood-gate.ts'
import { GuestPulse } from './guest-pulse.ts'

/** Messages of a client are left out while the bot has so many bytes still to read. */
const MAX_UNREAD_BYTES = 1024 * 1024
/** Other things cannot be left out; a guest that lets so many bytes pile up does not read at all. */
const MAX_BACKLOG_BYTES = 4 * 1024 * 1024

type Sound = Extract<LinkFrame, { kind: 'audioOut' | 'heard' }>

/** What a guest does, as far as its session cares. */
export interface GuestEvents {
  format(inputRate: number, outputRate: number): void
  /** Sound or a confirmation. False when the guest broke the rules of credit. */
  sound(frame: Sound): boolean
  clear(epoch: number): void
  message(data: unknown): void
  /** The bot says so much that a message of it was not passed on. */
  messageLeftOut(): void
  dtmf(keys: string): void
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
  readonly events: GuestEvents
}

/** The host's side of one guest: speaks the link, watches over the guest, and tells once when it is over. */
export class GuestChannel {
  readonly #options: GuestChannelOptions
  readonly #port: HostPort
  readonly #gate = new FloodGate()
  readonly #pulse: GuestPulse
  #over = false
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

  /** Ends the conversation with the guest, which gets until the deadline to finish what it does. */
  async close(outcome: SessionOutcome, deadlineMs: number): Promise<void> {
    if (!this.#over) {
      this.#port.send({ type: 'cancel', cause: outcome.cause, message: outcome.message, deadlineMs })
      const timer = setTimeout(() => this.#settle(), deadlineMs)
      await this.#settled
      clearTimeout(timer)
    }
    this.#over = true
    // The end of a stream that nobody reads is never seen, and the stream never freed.
    this.#port.resume()
    this.#port.close()
  }

  #onMessage(message: GuestMessage): void {
    const { events, clock } = this.#options
    if (!this.#admit() && message.type === 'message') {
      events.messageLeftOut()
      return
    }
    switch (message.type) {
      case 'message':
        events.message(message.data)
        break
      case 'dtmf':
        events.dtmf(message.keys)
        break
      case 'clear':
        events.clear(message.epoch)
        break
      case 'format':
        events.format(message.inputRate, message.outputRate)
        break
      case 'pong': {
        this.#pulse.alive(clock())
        const fault = this.#pulse.weigh(message.rss)
        if (fault !== undefined) this.#finish(fault.cause, fault.message)
        break
      }
      case 'end':
        if (message.outcome === 'returned') this.#finish('bot_returned', 'The bot is done.')
        else this.#finish('bot_failed', failure(message.error), message.error?.stack)
        break
      default:
        this.#finish('bot_failed', `The bot's process said ${message.type} in the middle of a session.`)
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

  #onFrame(frame: Exclude<LinkFrame, { kind: 'control' }>): void {
    if (frame.kind !== 'audioOut' && frame.kind !== 'heard') {
      this.#finish(
        'bot_failed',
        `The bot's process sent a ${frame.kind} frame, which only its host may send.`,
      )
    } else if (!this.#options.events.sound(frame)) {
      this.#finish('bot_flooded', 'The bot sent more sound than it was allowed to.')
    }
    this.#admit()
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
    this.#options.events.over({ cause, message, ...(detail === undefined ? {} : { detail }) })
  }
}

function failure(error: { readonly name: string; readonly message: string } | undefined): string {
  return error === undefined ? 'The bot failed.' : `The bot failed: ${error.name}: ${error.message}`
}
