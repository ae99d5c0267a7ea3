import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { CARRIER_IDS, type SessionOutcome } from '@botcli/protocol'
import { WebSocket, WebSocketServer } from 'ws'
import { type CarrierLimits, CarrierWire } from '../carriers/carrier-wire.ts'
import { carrierCodec } from '../carriers/codec.ts'
import { type CallGreeting, recognise } from '../carriers/recognise.ts'
import type { AudioFormat } from '../wire.ts'
import type { CarrierScript, ScriptFormat, Told } from './carrier-scripts.ts'
import { joined } from './tone.ts'
import { until } from './until.ts'

/** What a pair can be told. */
export interface CarrierPairOptions {
  readonly format?: AudioFormat
  readonly coding?: ScriptFormat
  readonly limits?: Partial<CarrierLimits>
  readonly autoPong?: boolean
}

/** Two ends of a real WebSocket, before anybody has said anything. */
export async function socketPair(autoPong = true) {
  const options = { maxPayload: 1024 * 1024, skipUTF8Validation: true }
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, ...options })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const carrier = new WebSocket(`ws://127.0.0.1:${port}`, { autoPong })
  carrier.on('error', () => {})
  const [[websocket]] = await Promise.all([once(server, 'connection'), once(carrier, 'open')])
  return { server, carrier, websocket: websocket as WebSocket }
}

/** A carrier that a test plays, a real connection, and the wire at its other end with a record of what it told. */
export class CarrierPair {
  readonly carrier: WebSocket
  readonly wire: CarrierWire
  readonly script: CarrierScript
  readonly greeting: CallGreeting
  readonly events: string[] = []
  readonly heard: Int16Array[] = []
  /** What the carrier got, as it came. */
  readonly told: Told[] = []
  readonly complaints: unknown[] = []
  /** The wire's clock; a test moves it. */
  now = 1000
  finished = false
  /** Why the call is gone. */
  reason = ''
  closed: { readonly code: number; readonly reason: string } | undefined
  readonly #server: WebSocketServer

  private constructor(
    script: CarrierScript,
    { server, carrier, websocket }: Awaited<ReturnType<typeof socketPair>>,
    greeting: CallGreeting,
    { limits, format }: CarrierPairOptions,
  ) {
    this.script = script
    this.greeting = greeting
    this.#server = server
    this.carrier = carrier
    carrier.on('message', (data: Buffer) => this.told.push(script.read(data.toString())))
    carrier.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
    })
    this.wire = new CarrierWire({
      websocket,
      greeting,
      clock: () => this.now,
      log: (_, detail) => this.complaints.push(detail),
      ...(limits && { limits }),
      events: {
        connected: () => this.events.push('connected'),
        disconnected: () => this.events.push('disconnected'),
        gone: (cause, message) => {
          this.events.push(cause)
          this.reason = message
        },
        audio: (samples) => this.heard.push(samples),
        message: () => this.events.push('message'),
        dtmf: (keys) => this.events.push(`dtmf ${keys}`),
      },
    })
    this.wire.listen()
    this.wire.finished.then(() => {
      this.finished = true
    })
    if (format !== undefined) this.wire.setFormat(format)
  }

  static async open(script: CarrierScript, options: CarrierPairOptions = {}): Promise<CarrierPair> {
    const sockets = await socketPair(options.autoPong)
    const { signal } = new AbortController()
    const greeting = recognise(sockets.websocket, {
      served: CARRIER_IDS,
      evals: false,
      passThrough: false,
      clock: () => 1000,
      signal,
    })
    for (const message of [...script.greeting, script.start(options.coding)]) {
      sockets.carrier.send(JSON.stringify(message))
    }
    return new CarrierPair(script, sockets, (await greeting) as CallGreeting, options)
  }

  send(message: object): void {
    this.carrier.send(JSON.stringify(message))
  }

  /** Waits until each side has read everything that the other sent before: a ping goes there behind it, and its answer back. */
  async settled(): Promise<void> {
    let answered = false
    this.carrier.once('pong', () => {
      answered = true
    })
    this.carrier.ping()
    await until('both sides have read', () => answered)
  }

  get chunks(): readonly Buffer[] {
    return this.told.flatMap((told) => (told.kind === 'media' ? [Buffer.from(told.payload, 'base64')] : []))
  }

  get marks(): readonly string[] {
    return this.told.flatMap((told) => (told.kind === 'mark' ? [told.name] : []))
  }

  /** The caller says this, in packets of so many milliseconds. */
  say(samples: Int16Array, packetMs: number, firstChunk = 1): void {
    const { hears } = this.greeting.start
    const coder = carrierCodec(hears)
    const size = (hears.rate * packetMs) / 1000
    for (let at = 0; at * size < samples.length; at += 1) {
      const bytes = coder.encode(samples.subarray(at * size, (at + 1) * size))
      this.send(this.script.media(firstChunk + at, Buffer.from(bytes).toString('base64')))
    }
  }

  /** The bot says this, a step at a time. */
  speak(samples: Int16Array, stepSamples = 480): void {
    for (let at = 0; at < samples.length; at += stepSamples) {
      const step = new Int16Array(stepSamples)
      step.set(samples.subarray(at, at + stepSamples))
      this.wire.sendAudio(step)
    }
  }

  /** What the carrier has played to the caller, as far as it has come. */
  get sound(): Int16Array {
    const coder = carrierCodec(this.greeting.start.speaks)
    return joined(this.chunks.map((chunk) => coder.decode(chunk)))
  }

  async close(
    outcome: SessionOutcome = { result: 'ok', cause: 'stopped', message: 'The test is over.' },
  ): Promise<void> {
    this.wire.close(outcome)
    this.carrier.terminate()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
