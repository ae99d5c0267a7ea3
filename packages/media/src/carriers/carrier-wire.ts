import { CLOSE_CODES, type SessionOutcome } from '@botcli/protocol'
import type { WebSocket } from 'ws'
import { closeWebsocket } from '../websocket/close-websocket.ts'
import type { AudioFormat, Wire, WireCounters, WireEvents } from '../wire.ts'
import { BotSound } from './bot-sound.ts'
import { CallerSound } from './caller-sound.ts'
import { carrierCodec } from './codec.ts'
import type { CarrierEvent } from './dialect.ts'
import { type CallGreeting, type CarrierMessage, parseJson } from './recognise.ts'

/** Sound is left out for a carrier that has fallen so far behind that it would play it late. */
const MAX_AUDIO_BACKLOG_BYTES = 64 * 1024
/** Nobody waits longer than this for a bot that left while it was still pressing keys. */
const MAX_LAST_WORD_MS = 5000
/** Keys that a caller pressed before the bot listens. */
const MAX_EARLY_KEYS = 64

/** How long a carrier may be quiet in each way. */
export interface CarrierLimits {
  /** A carrier that lets two of these pass without a sign of life is gone. */
  readonly pingMs: number
  /** Carriers send sound all the time, also when nobody speaks; one that sends nothing for so long has lost the call. */
  readonly silenceMs: number
  /** The last word is given this long to be played, beyond its own length. */
  readonly playedMs: number
}

const LIMITS: CarrierLimits = { pingMs: 10_000, silenceMs: 60_000, playedMs: 2000 }

/** What a wire is made of. */
export interface CarrierWireOptions {
  readonly websocket: WebSocket
  readonly greeting: CallGreeting
  readonly events: WireEvents
  readonly clock: () => number
  readonly log?: (message: string, detail?: object) => void
  readonly limits?: Partial<CarrierLimits>
}

/** A phone call, through the carrier's WebSocket. Application messages have no place in it. */
export class CarrierWire implements Wire {
  readonly eager = true
  /** Resolves when the caller has heard the last word, or cannot hear it any more. Only then a call may be hung up. */
  readonly finished: Promise<void>
  readonly #options: CarrierWireOptions
  readonly #limits: CarrierLimits
  readonly #caller: CallerSound
  readonly #bot: BotSound
  readonly #pinger: NodeJS.Timeout
  #finish: () => void = () => {}
  #patience: NodeJS.Timeout | undefined
  #bye: () => void = () => {}
  #state: 'open' | 'ending' | 'closed' = 'open'
  #hasFormat = false
  #earlyKeys = ''
  #answeredPing = true
  #heardAt: number
  #badMessages = 0

  constructor(options: CarrierWireOptions) {
    const { websocket, greeting, events, clock } = options
    const { dialect, start } = greeting
    this.#options = options
    this.#limits = { ...LIMITS, ...options.limits }
    this.#heardAt = clock()
    this.finished = new Promise((resolve) => {
      this.#finish = resolve
    })
    this.#caller = new CallerSound({
      codec: carrierCodec(start.hears),
      rate: start.hears.rate,
      emit: (samples, arrivedAt) => events.audio(samples, arrivedAt),
    })
    this.#bot = new BotSound({
      codec: carrierCodec(start.speaks),
      rate: start.speaks.rate,
      chunks: dialect.chunks,
      sendChunk: (bytes) => this.#sendChunk(bytes),
      sendMark: (name) => this.#send(dialect.mark(start, name)),
    })
    websocket.on('pong', () => {
      this.#answeredPing = true
    })
    websocket.on('close', (code) => this.#onClose(code))
    this.#pinger = setInterval(() => this.#ping(), this.#limits.pingMs)
    events.connected()
  }

  /** Starts to listen, first to what has come already. Not before somebody can hear that the call is over. */
  listen(): void {
    const { websocket, greeting, clock } = this.#options
    // The start is known already.
    const early = [...greeting.opening.slice(0, -1), ...greeting.takeOver()]
    websocket.on('message', (data: Buffer, isBinary: boolean) => {
      this.#onMessage({ json: isBinary ? undefined : parseJson(data), arrivedAt: clock() })
    })
    for (const message of early) this.#onMessage(message)
  }

  /** Messages are not for carriers, so none ever waits. */
  get messageBacklog(): number {
    return 0
  }

  get counters(): WireCounters {
    return { audioInConcealedMs: 0, badMessages: this.#badMessages }
  }

  setFormat(format: AudioFormat): void {
    this.#hasFormat = true
    this.#caller.setRate(format.inputRate)
    this.#bot.setRate(format.outputRate)
  }

  sendAudio(samples: Int16Array): void {
    if (this.#state !== 'open' || !this.#hasFormat) return
    this.#bot.sound(samples)
    this.#step()
  }

  sendNothing(): void {
    if (this.#state !== 'open' || !this.#hasFormat) return
    this.#bot.nothing()
    this.#step()
  }

  clear(): void {
    const { dialect, start } = this.#options.greeting
    if (this.#state !== 'open') return
    this.#bot.clear()
    this.#send(dialect.clear(start))
  }

  /** A carrier knows nothing but sound and keys. */
  sendMessage(): boolean {
    return false
  }

  sendDtmf(keys: string): void {
    const { dialect } = this.#options.greeting
    if (this.#state !== 'open') return
    if (dialect.dtmf === undefined) this.#bot.press(keys)
    else this.#send(dialect.dtmf(keys))
  }

  close(outcome: SessionOutcome): void {
    if (this.#state !== 'open') return
    const leftMs = this.#bot.finish()
    this.#state = 'ending'
    this.#bye = () => this.#hangUp(CLOSE_CODES[outcome.cause], outcome.message)
    const patienceMs = Math.min(leftMs, MAX_LAST_WORD_MS) + this.#limits.playedMs
    if (this.#bot.unplayed) this.#patience = setTimeout(this.#bye, patienceMs)
    else this.#bye()
  }

  #step(): void {
    this.#caller.step(this.#options.clock())
    this.#passEarlyKeys()
  }

  #sendChunk(bytes: Uint8Array): void {
    const { websocket, greeting } = this.#options
    if (websocket.bufferedAmount > MAX_AUDIO_BACKLOG_BYTES) return
    const { buffer, byteOffset, byteLength } = bytes
    const payload = Buffer.from(buffer, byteOffset, byteLength).toString('base64')
    this.#send(greeting.dialect.media(greeting.start, payload))
  }

  #send(text: string): void {
    if (this.#state !== 'closed') this.#options.websocket.send(text)
  }

  #onMessage({ json, arrivedAt }: CarrierMessage): void {
    if (this.#state === 'closed') return
    const { dialect, start } = this.#options.greeting
    this.#answeredPing = true
    this.#heardAt = arrivedAt
    const event = dialect.read(json)
    const foreign = event.streamId !== undefined && event.streamId !== start.streamId
    if (foreign || event.kind === 'bad') this.#badMessages += 1
    else if (this.#state === 'open') this.#onEvent(event, arrivedAt)
    else this.#onLastEvent(event)
  }

  #onEvent(event: CarrierEvent, arrivedAt: number): void {
    switch (event.kind) {
      case 'media':
        this.#caller.push(event.chunk, Buffer.from(event.payload, 'base64'), arrivedAt)
        break
      case 'dtmf':
        this.#earlyKeys = (this.#earlyKeys + event.keys).slice(0, MAX_EARLY_KEYS)
        this.#passEarlyKeys()
        break
      case 'played':
        this.#bot.played(event.mark)
        break
      case 'stopped':
        this.#end('client_left', 'The caller hung up.')
        closeWebsocket(this.#options.websocket, CLOSE_CODES.client_left, '')
        break
      case 'fault':
        this.#options.log?.('A carrier complained about what it was sent.', { complaint: event.message })
        break
      case 'started':
      case 'refused':
        // A socket carries one call, and this one has begun.
        this.#badMessages += 1
    }
  }

  /** Only the last word matters now. */
  #onLastEvent(event: CarrierEvent): void {
    if (event.kind === 'played') this.#bot.played(event.mark)
    if (event.kind === 'stopped' || !this.#bot.unplayed) this.#bye()
  }

  #passEarlyKeys(): void {
    if (!this.#hasFormat || this.#earlyKeys === '') return
    const keys = this.#earlyKeys
    this.#earlyKeys = ''
    this.#options.events.dtmf(keys)
  }

  #ping(): void {
    const { websocket, clock } = this.#options
    const silent = clock() - this.#heardAt > this.#limits.silenceMs
    if (this.#answeredPing && !silent) {
      this.#answeredPing = false
      websocket.ping()
      return
    }
    this.#end('client_lost', silent ? 'The carrier sent nothing any more.' : 'The carrier stopped answering.')
    websocket.terminate()
  }

  #onClose(code: number): void {
    if (code === 1006) this.#end('client_lost', 'The connection to the carrier broke.')
    else this.#end('client_left', `The carrier closed the connection (code ${code}).`)
  }

  /** The call is over by no doing of ours. */
  #end(cause: 'client_left' | 'client_lost', message: string): void {
    const wasOpen = this.#state === 'open'
    this.#free()
    if (wasOpen) this.#options.events.gone(cause, message)
  }

  #hangUp(code: number, reason: string): void {
    if (this.#state === 'closed') return
    this.#free()
    closeWebsocket(this.#options.websocket, code, reason)
  }

  #free(): void {
    this.#state = 'closed'
    clearInterval(this.#pinger)
    clearTimeout(this.#patience)
    this.#finish()
  }
}
