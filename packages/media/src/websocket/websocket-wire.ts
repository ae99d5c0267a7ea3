import { Resampler } from '@botcli/audio'
import {
  CLOSE_CODES,
  decodeClientFrame,
  encodeClientFrame,
  needsWords,
  rtviEnd,
  rtviMessage,
  type SessionOutcome,
} from '@botcli/protocol'
import type { WebSocket } from 'ws'
import type { AudioFormat, Wire, WireCounters, WireEvents } from '../wire.ts'
import { closeWebsocket, closingOf } from './close-websocket.ts'

/** The published client plays whatever it gets at this rate, so this is what it is sent. */
const CLIENT_RATE = 24_000
const PING_INTERVAL_MS = 10_000
/** The published client reads messages with a delay, and none after the close; it is to read the error. */
const ERROR_LEAD_MS = 100
/** Sound is left out for a client that has fallen so far behind that it would hear it late. */
const MAX_AUDIO_BACKLOG_BYTES = 512 * 1024

/** Each rate costs a filter of its own; an honest client has one, or changes it with its microphone. */
const MAX_RATES = 20

/** What a wire is made of. */
export interface WebsocketWireOptions {
  readonly websocket: WebSocket
  readonly events: WireEvents
  readonly clock: () => number
  /** A client that lets two of these pass without a sign of life is gone. */
  readonly pingIntervalMs?: number
}

/** A plain WebSocket client that speaks the protobuf framing, or JSON in text messages. */
export class WebsocketWire implements Wire {
  readonly eager = false
  readonly finished: Promise<void>
  readonly #websocket: WebSocket
  readonly #events: WireEvents
  readonly #clock: () => number
  readonly #pinger: NodeJS.Timeout
  #format: AudioFormat | undefined
  #fromClient: Resampler | undefined
  #fromClientRate = 0
  #ratesUsed = 0
  #toClient: Resampler | undefined
  #speaksJson = false
  #answeredPing = true
  #badMessages = 0
  #closed = false

  constructor({ websocket, events, clock, pingIntervalMs = PING_INTERVAL_MS }: WebsocketWireOptions) {
    this.#websocket = websocket
    this.#events = events
    this.#clock = clock
    this.finished = closingOf(websocket)
    websocket.binaryType = 'nodebuffer'
    websocket.on('message', (data: Buffer, isBinary: boolean) => this.#onMessage(data, isBinary))
    websocket.on('pong', () => {
      this.#answeredPing = true
    })
    websocket.on('close', (code) => this.#onClose(code))
    // A close follows each error, and it is the close that says what to do.
    websocket.on('error', () => {})
    this.#pinger = setInterval(() => this.#ping(), pingIntervalMs)
    events.connected()
  }

  get messageBacklog(): number {
    return this.#websocket.bufferedAmount
  }

  get counters(): WireCounters {
    return { audioInConcealedMs: 0, badMessages: this.#badMessages }
  }

  setFormat(format: AudioFormat): void {
    this.#format = format
    this.#toClient = new Resampler(format.outputRate, CLIENT_RATE)
  }

  sendAudio(samples: Int16Array): void {
    if (this.#toClient === undefined || this.#websocket.bufferedAmount > MAX_AUDIO_BACKLOG_BYTES) return
    const { buffer, byteOffset, byteLength } = this.#toClient.process(samples)
    const audio = new Uint8Array(buffer, byteOffset, byteLength)
    this.#send(encodeClientFrame({ kind: 'audio', audio, sampleRate: CLIENT_RATE, channels: 1 }))
  }

  sendNothing(): void {}

  /** Clients are sent sound in real time, so there is hardly anything to take back. */
  clear(): void {}

  sendMessage(message: unknown): boolean {
    const data = JSON.stringify(message)
    return this.#send(this.#speaksJson ? data : encodeClientFrame({ kind: 'message', data }))
  }

  /** Keys have no meaning on this wire. */
  sendDtmf(): void {}

  close(outcome: SessionOutcome): void {
    if (this.#closed) return
    const worded = needsWords(outcome.cause)
    if (worded) this.sendMessage(rtviEnd(outcome))
    this.#free()
    const bye = () => closeWebsocket(this.#websocket, CLOSE_CODES[outcome.cause], outcome.message)
    if (worded) setTimeout(bye, ERROR_LEAD_MS)
    else bye()
  }

  #send(data: string | Uint8Array): boolean {
    if (this.#closed) return false
    this.#websocket.send(data)
    return true
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#closed) return
    this.#answeredPing = true
    if (!isBinary) {
      this.#speaksJson = true
      this.#onJson(data.toString('utf8'))
      return
    }
    const frame = decodeClientFrame(data)
    if (frame?.kind === 'audio') this.#onAudio(frame.audio, frame.sampleRate, frame.channels)
    else if (frame?.kind === 'message') this.#onJson(frame.data)
    else if (frame?.kind === 'text') this.#events.message(rtviMessage('send-text', { content: frame.text }))
    else this.#badMessages += 1
  }

  #onJson(text: string): void {
    let message: unknown
    try {
      message = JSON.parse(text)
    } catch {
      this.#badMessages += 1
      return
    }
    this.#events.message(message)
  }

  #onAudio(bytes: Uint8Array, rate: number, channels: number): void {
    if (rate < 8000 || rate > 48_000 || rate % 50 !== 0 || (channels !== 1 && channels !== 2)) {
      this.#badMessages += 1
      return
    }
    if (this.#format === undefined) return
    if (this.#fromClient === undefined || this.#fromClientRate !== rate) {
      if (this.#ratesUsed === MAX_RATES) {
        this.#badMessages += 1
        return
      }
      this.#ratesUsed += 1
      this.#fromClient = new Resampler(rate, this.#format.inputRate)
      this.#fromClientRate = rate
    }
    const samples = this.#fromClient.process(monoSamples(bytes, channels))
    if (samples.length > 0) this.#events.audio(samples, this.#clock())
  }

  #ping(): void {
    if (this.#answeredPing) {
      this.#answeredPing = false
      this.#websocket.ping()
      return
    }
    this.#free()
    this.#websocket.terminate()
    this.#events.gone('client_lost', 'The client stopped answering.')
  }

  #onClose(code: number): void {
    if (this.#closed) return
    this.#free()
    if (code === 1006) this.#events.gone('client_lost', 'The connection to the client broke.')
    else this.#events.gone('client_left', `The client closed the connection (code ${code}).`)
  }

  #free(): void {
    this.#closed = true
    clearInterval(this.#pinger)
  }
}

/** Copies, because the bytes may sit at an odd offset of a larger message. */
function monoSamples(bytes: Uint8Array, channels: number): Int16Array {
  const samples = new Int16Array(bytes.slice(0, bytes.length - (bytes.length % (2 * channels))).buffer)
  if (channels === 1) return samples
  return Int16Array.from({ length: samples.length / 2 }, (_, index) => {
    return ((samples[2 * index] ?? 0) + (samples[2 * index + 1] ?? 0)) >> 1
  })
}
