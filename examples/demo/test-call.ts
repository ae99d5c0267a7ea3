import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import type { AudioFrame, ClearResult, RtviRequest, Transport, TransportEvents, TypedText } from '@botcli/bot'
import type { Clock } from './clock.ts'
import type { ConversationTransport } from './conversation.ts'
import { VOICE_SAMPLE_RATE, type Voice } from './voice.ts'

const STEP_MS = 20
const STEP = (VOICE_SAMPLE_RATE * STEP_MS) / 1000
const AHEAD_MS = 1000

/** What is wrong with the line of a {@link TestCall}. */
export interface TestLine {
  readonly type?: Transport['type']
  /** Root mean square of the caller's background noise. */
  readonly noise?: number
  /** How much of the bot's sound comes back through the caller's microphone. */
  readonly echo?: number
  readonly echoDelayMs?: number
}

interface Waiter {
  readonly due: () => boolean
  readonly resolve: () => void
}

/**
 * A call in a time of its own: nothing happens unless {@link TestCall.pass} lets time pass. It plays the
 * bot's sound at the pace of a real call and mixes the caller's voice with noise and echo.
 */
export class TestCall implements ConversationTransport, Clock {
  readonly type: Transport['type']
  readonly audioInSampleRate = VOICE_SAMPLE_RATE
  readonly audioOutSampleRate = VOICE_SAMPLE_RATE
  connected = false
  /** What the client was told, and what became of the bot's sound, in order. */
  readonly log: string[] = []
  /** Everything that the caller was played, silence included. */
  readonly played: Int16Array[] = []
  /** Why sound is no longer taken. */
  broken: Error | undefined

  readonly #line: TestLine
  readonly #events = new EventEmitter()
  readonly #end = new AbortController()
  readonly #random = randomNumbers(7)
  #queue: number[] = []
  #waiters: Waiter[] = []
  #time = new Date(2025, 10, 15, 15, 45).getTime()

  readonly rtvi: ConversationTransport['rtvi'] = {
    onClientReady: (listener: () => void) => void this.#events.on('client-ready', listener),
    onText: (listener: (text: TypedText) => void) => void this.#events.on('text', listener),
    onRequest: (listener: (request: RtviRequest) => void) => void this.#events.on('request', listener),
    userStartedSpeaking: () => void this.log.push('user started'),
    userStoppedSpeaking: () => void this.log.push('user stopped'),
    userTranscription: (text: string) => void this.log.push(`user said: ${text}`),
    userInput: (text: string) => void this.log.push(`user typed: ${text}`),
    botStartedSpeaking: () => void this.log.push('bot started'),
    botStoppedSpeaking: () => void this.log.push('bot stopped'),
    botInterrupted: () => void this.log.push('bot interrupted'),
    botOutput: (text: string, options?: { readonly spoken?: boolean }) =>
      void this.log.push(`${options?.spoken === false ? 'bot wrote' : 'bot said'}: ${text}`),
  }

  constructor(line: TestLine = {}) {
    this.#line = line
    this.type = line.type ?? 'webrtc'
  }

  get signal(): AbortSignal {
    return this.#end.signal
  }

  get queuedMs(): number {
    return (this.#queue.length * 1000) / VOICE_SAMPLE_RATE
  }

  /** Listeners still attached. */
  get listeners(): number {
    return (['connected', 'audio', 'dtmf'] as const).reduce(
      (sum, name) => sum + this.#events.listenerCount(name),
      0,
    )
  }

  now(): number {
    return this.#time
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    const end = this.#time + ms
    return this.#until(() => signal.aborted || this.#time >= end)
  }

  async sendAudio(samples: Int16Array): Promise<void> {
    if (this.broken) throw this.broken
    for (const sample of samples) this.#queue.push(sample)
    await this.#until(() => this.queuedMs <= AHEAD_MS || this.signal.aborted)
  }

  async clear(): Promise<ClearResult> {
    this.log.push('cleared')
    this.#queue = []
    return { playedMs: 0 }
  }

  drained(): Promise<void> {
    return this.#until(() => this.#queue.length === 0 || this.signal.aborted)
  }

  on<K extends keyof TransportEvents>(event: K, listener: (...args: TransportEvents[K]) => void): this {
    this.#events.on(event, listener as (...args: unknown[]) => void)
    return this
  }

  off<K extends keyof TransportEvents>(event: K, listener: (...args: TransportEvents[K]) => void): this {
    this.#events.off(event, listener as (...args: unknown[]) => void)
    return this
  }

  /** The caller's wire comes up. */
  connect(): void {
    this.connected = true
    this.#events.emit('connected')
  }

  clientReady(): void {
    this.#events.emit('client-ready')
  }

  typeText(text: string, options: Partial<TypedText> = {}): void {
    this.#events.emit('text', { text, runImmediately: true, audioResponse: true, ...options })
  }

  press(keys: string): void {
    this.#events.emit('dtmf', keys)
  }

  request(request: RtviRequest): void {
    this.#events.emit('request', request)
  }

  hangUp(): void {
    this.#end.abort()
  }

  /** Lets `sound` and then silence reach the bot, for `ms` in all. */
  async pass(ms: number, sound: Int16Array = new Int16Array(0)): Promise<void> {
    for (let at = 0; at < ms; at += STEP_MS) {
      const from = (at / STEP_MS) * STEP
      await this.#step(sound.subarray(from, from + STEP), true)
    }
  }

  /** Lets time pass in which the client sends no sound at all. */
  async passMuted(ms: number): Promise<void> {
    for (let at = 0; at < ms; at += STEP_MS) await this.#step(new Int16Array(0), false)
  }

  /** Lets time pass until the bot has finished what it says. */
  async passUntil(done: () => boolean, limitMs = 60_000): Promise<void> {
    for (let at = 0; at < limitMs && !done(); at += STEP_MS) await this.#step(new Int16Array(0), true)
    if (!done()) throw new Error(`It did not happen within ${limitMs} ms:\n${this.log.join('\n')}`)
  }

  async #step(voice: Int16Array, sending: boolean): Promise<void> {
    this.#time += STEP_MS
    const out = new Int16Array(STEP)
    out.set(this.#queue.splice(0, STEP))
    this.played.push(out)
    if (sending) this.#events.emit('audio', this.#frame(voice))
    const due = this.#waiters.filter((waiter) => waiter.due())
    this.#waiters = this.#waiters.filter((waiter) => !due.includes(waiter))
    for (const waiter of due) waiter.resolve()
    for (let turn = 0; turn < 4; turn += 1) await setImmediate()
  }

  #frame(voice: Int16Array): AudioFrame {
    const delay = (this.#line.echoDelayMs ?? 200) / STEP_MS
    const back = this.played.at(-1 - delay) ?? new Int16Array(STEP)
    const samples = new Int16Array(STEP)
    for (let at = 0; at < STEP; at += 1) {
      const noise = (this.#random() - 0.5) * Math.sqrt(12) * (this.#line.noise ?? 20)
      samples[at] = (voice[at] ?? 0) + noise + (this.#line.echo ?? 0) * (back[at] ?? 0)
    }
    return { samples, sampleRate: VOICE_SAMPLE_RATE, capturedAt: this.#time }
  }

  #until(due: () => boolean): Promise<void> {
    if (due()) return Promise.resolve()
    return new Promise((resolve) => this.#waiters.push({ due, resolve }))
  }
}

/** Somebody saying `text`, as loud as asked for. */
export async function speech(voice: Voice, text: string, gain = 1): Promise<Int16Array> {
  const samples: number[] = []
  for await (const clause of voice.speak(text)) samples.push(...clause.sound)
  return Int16Array.from(samples, (sample) => sample * gain)
}

/** Random numbers from 0 up to 1 that are the same in every run. */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
