import { isVoiced, type Ticker } from '@botcli/audio'
import {
  type BotStart,
  isCarrier,
  isShallow,
  type LinkStream,
  rtviLatency,
  rtviMessageSchema,
  type SessionOutcome,
  type TurnLatency,
} from '@botcli/protocol'
import type { Wire, WireEvents } from '../wire.ts'
import { GuestChannel, type GuestFrame, type GuestOver, type GuestWord } from './guest-channel.ts'
import { GuestRequests } from './guest-requests.ts'
import type { HostedSession, MediaEnd, MediaReport, MediaSessionEvents } from './hosted-session.ts'
import { Intake } from './intake.ts'
import { Pace } from './pace.ts'
import { Playout } from './playout.ts'
import { TurnMeter } from './turn-meter.ts'

/** Messages of a client that are kept until its bot is there. */
const MAX_EARLY_MESSAGES = 100
/** The bot learns its position this often while it speaks. */
const PLAYBACK_STEPS = 5
const TURNS_KEPT = 20
/** A client may have so much left to take for a while. */
const SLOW_CLIENT_BYTES = 1024 * 1024
const SLOW_CLIENT_MS = 15_000
/** What comes on top of this is left out. The link is read on, since the bot's last word may be in it. */
const MAX_CLIENT_BACKLOG_BYTES = 4 * 1024 * 1024

/** What a session is made of. */
export interface MediaSessionOptions<W extends Wire> {
  readonly createWire: (events: WireEvents) => W
  readonly events: MediaSessionEvents
  readonly ticker: Ticker
  readonly clock: () => number
  readonly maxMemoryBytes: number
}

/** One caller with one bot: the wire on one side, the guest on the other, paced sound between them. */
export class MediaSession<W extends Wire = Wire> implements HostedSession {
  readonly wire: W
  readonly requests = new GuestRequests()
  readonly #options: MediaSessionOptions<W>
  readonly #startedAt: number
  readonly #meter = new TurnMeter()
  readonly #pace = new Pace()
  readonly #turns: TurnLatency[] = []
  readonly #early: unknown[] = []
  #guest: GuestChannel | undefined
  #intake: Intake | undefined
  #playout: Playout | undefined
  #stopTicking: () => void = () => {}
  #connected = false
  #showsLatency = false
  #telephony = false
  #over = false
  #stepsSinceReport = 0
  #sentSteps = 0
  #messagesIn = 0
  #messagesOut = 0
  #messagesInDropped = 0
  #messagesOutDropped = 0
  /** Since when the client has had much left to take. */
  #slowSince: number | undefined
  #badMessages = 0

  constructor(options: MediaSessionOptions<W>) {
    this.#options = options
    this.#startedAt = options.clock()
    this.wire = options.createWire({
      connected: () => this.#setConnected(true),
      disconnected: () => this.#setConnected(false),
      gone: (cause, message) => this.#finish({ cause, message }),
      audio: (samples, arrivedAt) => this.#onAudio(samples, arrivedAt),
      message: (message) => this.#onClientMessage(message),
      dtmf: (keys) => {
        this.#meter.asked(options.clock(), options.clock())
        this.#guest?.dtmf(keys)
      },
    })
  }

  join(link: LinkStream, start: BotStart): void {
    this.#telephony = isCarrier(start.transport)
    const guest = new GuestChannel({
      link,
      clock: this.#options.clock,
      maxMemoryBytes: this.#options.maxMemoryBytes,
      requests: this.requests,
      events: {
        word: (word) => this.#onBotWord(guest, word),
        frame: (frame) => this.#onBotFrame(frame),
        messageLeftOut: () => {
          this.#messagesOutDropped += 1
        },
        over: (reason) => this.#finish(reason),
      },
    })
    this.#guest = guest
    guest.start(start)
    if (this.#connected) guest.connected(true)
    for (const message of this.#early.splice(0)) this.#passOn(guest, message)
  }

  beat(): void {
    this.#guest?.beat()
    if (this.wire.messageBacklog < SLOW_CLIENT_BYTES) {
      this.#slowSince = undefined
      return
    }
    this.#slowSince ??= this.#options.clock()
    if (this.#options.clock() - this.#slowSince < SLOW_CLIENT_MS) return
    this.#finish({ cause: 'bot_flooded', message: 'The bot sent more messages than its client could take.' })
  }

  report(): MediaReport {
    return {
      counters: {
        audioInMs: this.#intake?.receivedMs ?? 0,
        audioOutMs: this.#sentSteps * 20,
        audioInDroppedMs: this.#intake?.droppedMs ?? 0,
        audioInConcealedMs: this.wire.counters.audioInConcealedMs,
        messagesIn: this.#messagesIn,
        messagesOut: this.#messagesOut,
        badMessages: this.wire.counters.badMessages + this.#badMessages,
        messagesInDropped: this.#messagesInDropped,
        messagesOutDropped: this.#messagesOutDropped,
      },
      latency: [...this.#turns],
    }
  }

  async close(outcome: SessionOutcome, deadlineMs: number): Promise<MediaEnd> {
    this.#over = true
    this.#stopTicking()
    this.wire.close(outcome)
    this.requests.close(outcome.message)
    const [lateFault] = await Promise.all([this.#guest?.close(outcome, deadlineMs), this.wire.finished])
    return { ...this.report(), ...(lateFault && { lateFault }) }
  }

  #finish(reason: GuestOver): void {
    if (this.#over) return
    this.#over = true
    this.#stopTicking()
    this.#options.events.over(reason)
  }

  #setConnected(connected: boolean): void {
    if (this.#connected === connected || this.#over) return
    this.#connected = connected
    this.#guest?.connected(connected)
    if (connected) this.#options.events.connected()
    else this.#options.events.disconnected()
  }

  #setFormat(guest: GuestChannel, inputRate: number, outputRate: number): void {
    if (this.#over) return
    if (this.#playout !== undefined) {
      this.#finish({ cause: 'bot_failed', message: 'The bot chose its sound format twice.' })
      return
    }
    this.wire.setFormat({ inputRate, outputRate })
    this.#intake = new Intake(inputRate, (capturedAt, samples) => guest.audio(capturedAt, samples))
    this.#playout = new Playout(outputRate)
    this.#stopTicking = this.#options.ticker.add(() => this.#step())
    this.#reportPlayback()
    guest.flush()
  }

  #onAudio(samples: Int16Array, arrivedAt: number): void {
    if (this.#over || this.#intake === undefined) return
    this.#intake.push(Math.max(0, arrivedAt - this.#startedAt), samples)
    if (isVoiced(samples)) this.#meter.asked(arrivedAt, this.#options.clock())
  }

  #onClientMessage(message: unknown): void {
    if (this.#over) return
    if (!isShallow(message)) {
      this.#badMessages += 1
      return
    }
    this.#messagesIn += 1
    if (this.#guest !== undefined) this.#passOn(this.#guest, message)
    else if (this.#early.length < MAX_EARLY_MESSAGES) this.#early.push(message)
    else this.#messagesInDropped += 1
  }

  #passOn(guest: GuestChannel, message: unknown): void {
    const type = rtviMessageSchema.safeParse(message).data?.type
    if (type === 'client-ready') this.#showsLatency = !this.#telephony
    if (!guest.message(message)) this.#messagesInDropped += 1
    else if (type === 'send-text' || type === 'dtmf') {
      this.#meter.asked(this.#options.clock(), this.#options.clock())
    }
  }

  #onBotWord(guest: GuestChannel, word: GuestWord): boolean {
    switch (word.type) {
      case 'format':
        this.#setFormat(guest, word.inputRate, word.outputRate)
        return true
      case 'clear':
        this.#clear(word.epoch)
        return true
      case 'message':
        this.#onBotMessage(word.data)
        return true
      case 'dtmf':
        this.wire.sendDtmf(word.keys)
        return true
      default:
        return false
    }
  }

  #onBotFrame(frame: GuestFrame): GuestOver | undefined {
    if (frame.kind === 'socket') {
      return { cause: 'bot_failed', message: "The bot's process wrote to a socket that is not its own." }
    }
    const honest =
      frame.kind === 'heard' ? this.#intake?.confirm(frame.frames) === true : this.#onBotAudio(frame)
    if (honest) return undefined
    return { cause: 'bot_flooded', message: 'The bot sent more sound than it was allowed to.' }
  }

  #onBotMessage(data: unknown): void {
    if (this.wire.messageBacklog <= MAX_CLIENT_BACKLOG_BYTES && this.wire.sendMessage(data)) {
      this.#messagesOut += 1
    } else this.#messagesOutDropped += 1
  }

  #onBotAudio(frame: { readonly epoch: number; readonly samples: Int16Array }): boolean {
    if (this.#playout === undefined || !this.#playout.accept(frame.epoch, frame.samples)) return false
    if (isVoiced(frame.samples)) this.#meter.answered(this.#options.clock())
    if (this.wire.eager) this.#advance(this.#playout)
    return true
  }

  #clear(epoch: number): void {
    const played = this.#playout?.clear(epoch)
    if (played === undefined) {
      const message = `The bot's process broke the link protocol: it cleared to epoch ${epoch}, which is not the next one.`
      this.#finish({ cause: 'bot_failed', message })
      return
    }
    this.wire.clear()
    this.#meter.interrupted()
    this.#guest?.cleared(epoch, played)
    this.#reportPlayback()
    this.#guest?.flush()
  }

  #step(): void {
    if (this.#playout === undefined || !this.#connected) return
    this.#guest?.flush()
    if (this.wire.eager) {
      this.#advance(this.#playout)
      if (!this.#pace.demands(this.#options.clock())) return
    }
    const samples = this.#playout.next()
    if (samples !== undefined) this.#send(this.#playout, samples)
    else {
      this.#pace.made(this.#options.clock())
      this.wire.sendNothing()
    }
  }

  /** Sends what is there, as early as it may. */
  #advance(playout: Playout): void {
    while (this.#connected && playout.ready) {
      const now = this.#options.clock()
      if (!playout.speaking) this.#pace.begin(now)
      if (!this.#pace.allows(now)) return
      const samples = playout.next()
      if (samples !== undefined) this.#send(playout, samples)
    }
  }

  #send(playout: Playout, samples: Int16Array): void {
    this.#pace.made(this.#options.clock())
    this.wire.sendAudio(samples)
    this.#sentSteps += 1
    this.#stepsSinceReport += 1
    if (this.#stepsSinceReport >= PLAYBACK_STEPS || playout.idle) this.#reportPlayback()
    const turn = this.#meter.sent(this.#options.clock())
    if (turn !== undefined) this.#addTurn(turn)
  }

  #reportPlayback(): void {
    if (this.#playout === undefined) return
    this.#stepsSinceReport = 0
    const { epoch, played, limit } = this.#playout.position
    this.#guest?.playback(epoch, played, limit)
  }

  #addTurn(turn: TurnLatency): void {
    this.#turns.push(turn)
    if (this.#turns.length > TURNS_KEPT) this.#turns.shift()
    if (this.#showsLatency) this.wire.sendMessage(rtviLatency(turn))
  }
}
