import { isVoiced, samplesToMs, type Ticker } from '@botcli/audio'
import type { CarrierCodec } from '../carriers/codec.ts'
import { carrierCodec } from '../carriers/codec.ts'
import type { CallHappening } from './call-events.ts'
import type { Caller } from './caller.ts'
import type { CallSetup, PhoneDialect } from './dialect.ts'
import { Ear, joined } from './ear.ts'
import type { Line } from './line.ts'

/** The length of a step of time. */
export const STEP_MS = 20
/** Different violations that are told one by one; the rest is only counted. */
const MAX_KINDS = 20

/** What a stream is made of. */
export interface PhoneStreamOptions {
  readonly dialect: PhoneDialect
  readonly setup: CallSetup
  readonly caller: Caller
  readonly line: Line
  readonly ticker: Ticker
  /** Milliseconds since the number was dialled. */
  readonly now: () => number
  readonly tell: (at: number, happening: CallHappening) => void
  /** Called after each step; nothing that was before this can still be found out. */
  readonly settled: (until: number) => void
}

/** A call's stream, from its start to its stop: the caller's sound out, the bot's orders in. */
export class PhoneStream {
  readonly ear: Ear
  readonly #options: PhoneStreamOptions
  readonly #coder: CarrierCodec
  readonly #decoder: CarrierCodec
  readonly #beganAt: number
  readonly #leave: () => void
  readonly #said: Int16Array[]
  readonly #violations = new Set<string>()
  #packet: Int16Array[] = []
  #sequence = 0
  #chunk = 0
  #isFirst = true
  #violationCount = 0
  #receivedMs = 0
  #hasStopped = false

  constructor(options: PhoneStreamOptions) {
    const { dialect, setup, line, ticker, now, tell, caller } = options
    this.#options = options
    this.#coder = carrierCodec(setup.coding)
    this.#decoder = carrierCodec(dialect.expects(setup.coding))
    this.#beganAt = now()
    const { rate } = setup.coding
    this.ear = new Ear({
      rate,
      stepMs: STEP_MS,
      beganAt: this.#beganAt,
      tell: (at, event) =>
        tell(at, event.type === 'turn_started' ? { ...event, ...caller.answerAt(at) } : event),
    })
    this.#said = [new Int16Array(this.ear.recording().length)]
    for (const message of dialect.greeting) line.message(message)
    this.start()
    tell(this.#beganAt, { type: 'started' })
    this.#leave = ticker.add(() => this.#step())
  }

  get violations(): readonly string[] {
    return [...this.#violations]
  }

  get violationCount(): number {
    return this.#violationCount
  }

  /** Sound that came, silence included. */
  get receivedMs(): number {
    return this.#receivedMs
  }

  /** Everything that was said since the number was dialled, silences included. */
  said(): Int16Array {
    return joined(this.#said)
  }

  /** Sends the start of the stream; a second time it is nonsense. */
  start(): void {
    const { line, dialect, setup } = this.#options
    line.message(dialect.start(setup, this.#next()))
  }

  press(key: string): void {
    const { line, dialect, setup, tell, now } = this.#options
    line.message(dialect.key(setup, this.#next(), key, Math.round(now() - this.#beganAt)))
    tell(now(), { type: 'key_pressed', key })
  }

  /** Ends the stream as the carrier does when the caller hangs up. */
  stop(): void {
    const { line, dialect, setup } = this.#options
    line.flush()
    line.message(dialect.stop(setup, this.#next()))
    line.flush()
    this.#hasStopped = true
    this.#leave()
  }

  /** The time of the stream stands still from here on. */
  close(): void {
    this.#leave()
    this.ear.endTurn(this.ear.unplayedMs > 0)
  }

  /** Takes a message of the runner in. */
  receive(data: Buffer, isBinary: boolean): void {
    const { dialect, setup, line, tell, now } = this.#options
    const order = isBinary
      ? ({ kind: 'violation', message: 'A binary message; this carrier takes text only' } as const)
      : dialect.read(setup, parsed(data.toString()))
    switch (order.kind) {
      case 'media':
        this.#hear(order.payload)
        break
      case 'mark':
        tell(now(), { type: 'mark_asked', name: order.name })
        if (!this.ear.mark(order.name)) this.#violate('More marks wait than this carrier keeps')
        break
      case 'clear': {
        const { droppedMs, marks } = this.ear.clear()
        tell(now(), { type: 'cleared', droppedMs: Math.round(droppedMs) })
        if (dialect.cleared !== undefined) line.message(dialect.cleared(setup, this.#next()))
        if (dialect.marksOnClear) for (const name of marks) this.#answer(name, true)
        break
      }
      case 'keys':
        tell(now(), { type: 'keys_received', keys: order.keys })
        break
      case 'violation':
        this.#violate(order.message)
    }
  }

  #step(): void {
    const { caller, setup, dialect, settled } = this.#options
    const now = this.ear.now
    for (const name of this.ear.step()) this.#answer(name, false)
    const sound = caller.step(now)
    this.#said.push(sound)
    // The caller may have hung up in this very step, and nothing follows a stop.
    if (this.#hasStopped) return
    this.#packet.push(sound)
    if (this.#packet.length * STEP_MS >= dialect.packetMs) this.#sendPacket(setup)
    settled(this.ear.certainUntil)
  }

  #sendPacket(setup: CallSetup): void {
    const { dialect, line } = this.#options
    const { buffer, byteOffset, byteLength } = this.#coder.encode(joined(this.#packet))
    this.#packet = []
    this.#chunk += 1
    const payload = Buffer.from(buffer, byteOffset, byteLength).toString('base64')
    const atMs = (this.#chunk - 1) * dialect.packetMs
    line.media(dialect.media(setup, this.#next(), { chunk: this.#chunk, atMs, payload }))
  }

  #hear(payload: string): void {
    const { setup, dialect, caller, tell, now } = this.#options
    const bytes = Buffer.from(payload, 'base64')
    const wrong = wrongPiece(dialect, setup, payload, bytes)
    if (wrong !== undefined) this.#violate(wrong)
    const sound = this.#decoder.decode(bytes)
    this.#receivedMs += samplesToMs(sound.length, setup.coding.rate)
    const at = now()
    if (this.#isFirst && isVoiced(sound)) {
      this.#isFirst = false
      const afterStartMs = Math.round(at - this.#beganAt)
      tell(at, { type: 'first_audio', afterStartMs, ...caller.answerAt(at) })
    }
    if (!this.ear.push(sound, at)) this.#violate('More sound waits than this carrier keeps')
  }

  #answer(name: string, dropped: boolean): void {
    const { line, dialect, setup, tell, now } = this.#options
    line.message(dialect.played(setup, this.#next(), name))
    tell(now(), { type: 'mark_played', name, dropped })
  }

  #violate(message: string): void {
    const { line, dialect, setup, tell, now } = this.#options
    this.#violationCount += 1
    if (dialect.complaint !== undefined) line.message(dialect.complaint(setup, message))
    if (this.#violations.has(message) || this.#violations.size >= MAX_KINDS) return
    this.#violations.add(message)
    tell(now(), { type: 'violation', message })
  }

  #next(): number {
    this.#sequence += 1
    return this.#sequence
  }
}

/** What is wrong with the size of a piece of sound. */
function wrongPiece(
  dialect: PhoneDialect,
  setup: CallSetup,
  payload: string,
  bytes: Buffer,
): string | undefined {
  const expected = dialect.expects(setup.coding)
  if (bytes.length === 0) return 'A media message has no sound in it'
  if (payload.length % 4 !== 0) return 'A payload is no whole base64'
  if (expected.codec === 'l16' && bytes.length % 2 !== 0) return 'A payload ends in half a sample'
  const rule = dialect.pieces?.(expected)
  if (rule === undefined) return undefined
  const { minBytes, stepBytes, maxBytes } = rule
  if (bytes.length < minBytes)
    return `A piece of ${bytes.length} bytes of sound is shorter than the ${minBytes} that this carrier needs`
  if (bytes.length > maxBytes)
    return `A piece of ${bytes.length} bytes of sound is longer than the ${maxBytes} that this carrier takes`
  if (bytes.length % stepBytes !== 0)
    return `A piece of ${bytes.length} bytes of sound is no multiple of ${stepBytes}`
  return undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
