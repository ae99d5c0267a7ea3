import type { HostMessage, TransportId } from '@botcli/protocol'
import { Emitter } from './emitter.ts'
import { BotError } from './errors.ts'
import { Hearing } from './hearing.ts'
import { isKeys } from './keys.ts'
import { checkMessage } from './outgoing-message.ts'
import { Playback } from './playback.ts'
import type { Rtvi } from './rtvi.ts'
import { RtviConversation } from './rtvi-conversation.ts'
import type { HostFrame, SessionPort, SessionReceiver } from './session-port.ts'
import type { AudioFrame, ClearResult, EndReason, Transport, TransportEvents } from './transport.ts'

/** What a transport was asked for, with nothing left open. */
export interface ResolvedParams {
  readonly audioInSampleRate: number
  readonly audioOutSampleRate: number
  readonly rtvi: boolean
}

/** Messages that wait for a host which does not read them; beyond this the bot talks to nobody. */
const BACKLOG_LIMIT_BYTES = 8 * 1024 * 1024

/** A transport over the link of a session. */
export class LinkTransport implements Transport {
  readonly type: TransportId
  readonly sessionId: string
  readonly audioInSampleRate: number
  readonly audioOutSampleRate: number
  readonly #port: SessionPort
  readonly #playback: Playback
  readonly #hearing: Hearing
  readonly #events: Emitter<TransportEvents>
  readonly #rtvi: RtviConversation | undefined
  readonly #abort = new AbortController()
  #connected = false
  #endReason: EndReason | undefined

  constructor(port: SessionPort, type: TransportId, params: ResolvedParams) {
    this.type = type
    this.sessionId = port.start.sessionId
    this.audioInSampleRate = params.audioInSampleRate
    this.audioOutSampleRate = params.audioOutSampleRate
    this.#port = port
    this.#playback = new Playback(port, params.audioOutSampleRate)
    this.#hearing = new Hearing((frames) => port.sendHeard(frames))
    this.#events = new Emitter((error) => port.fail(error))
    if (params.rtvi) this.#rtvi = this.#conversation()
    port.attach(this.#receiver())
    port.send({ type: 'format', inputRate: params.audioInSampleRate, outputRate: params.audioOutSampleRate })
  }

  get connected(): boolean {
    return this.#connected
  }

  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get rtvi(): Rtvi {
    if (this.#rtvi) return this.#rtvi
    throw new BotError(
      'rtvi_off',
      'this transport was made with `rtvi: false`; use sendMessage() and on("message")',
    )
  }

  get playedMs(): number {
    return this.#playback.playedMs
  }

  get queuedMs(): number {
    return this.#playback.queuedMs
  }

  audio(): AsyncIterable<AudioFrame> {
    return this.#hearing.read()
  }

  async sendAudio(samples: Int16Array): Promise<void> {
    if (this.#endReason !== undefined) {
      throw new BotError(
        'session_ended',
        `no sound can be sent, the session is over: ${this.#endReason.message}`,
      )
    }
    // The bot may be plain JavaScript, where a Buffer of bytes is easily taken for samples.
    if (!(samples instanceof Int16Array)) {
      throw new BotError('invalid_audio', 'sendAudio() takes an Int16Array: one number a sample, mono')
    }
    await this.#playback.add(samples)
  }

  clear(): Promise<ClearResult> {
    return this.#playback.clear()
  }

  drained(): Promise<void> {
    return this.#playback.drained()
  }

  sendMessage(message: unknown): void {
    checkMessage(message)
    if (this.#endReason !== undefined) return
    if (this.#port.backlog > BACKLOG_LIMIT_BYTES) {
      throw new BotError('flooded', 'messages are sent faster than the caller can take them; send fewer')
    }
    this.#port.send({ type: 'message', data: message })
  }

  sendDtmf(keys: string): void {
    if (!isKeys(keys)) {
      throw new BotError('invalid_keys', `${JSON.stringify(keys)} are not 1 to 64 keys of 0-9, *, #, A-D`)
    }
    this.#port.send({ type: 'dtmf', keys })
  }

  on<K extends keyof TransportEvents>(event: K, listener: (...args: TransportEvents[K]) => void): this {
    this.#events.on(event, listener)
    const state: TransportEvents[K] | undefined = this.#state()[event]
    if (state !== undefined) {
      queueMicrotask(() => {
        if (this.#events.has(event, listener)) this.#events.call(listener, ...state)
      })
    }
    return this
  }

  off<K extends keyof TransportEvents>(event: K, listener: (...args: TransportEvents[K]) => void): this {
    this.#events.off(event, listener)
    return this
  }

  async close(): Promise<void> {
    await this.drained()
    this.#port.finish()
  }

  #conversation(): RtviConversation {
    return new RtviConversation({
      send: (message) => this.sendMessage(message),
      pass: (message) => this.#pass(message),
      keys: (keys) => this.#events.emit('dtmf', keys),
      disconnect: () => void this.close(),
      fail: (error) => this.#port.fail(error),
    })
  }

  #receiver(): SessionReceiver {
    return {
      message: (message) => this.#onMessage(message),
      frame: (frame) => this.#onFrame(frame),
      ended: (reason) => this.#onEnded(reason),
      drained: () => this.drained(),
    }
  }

  #onMessage(message: HostMessage): void {
    switch (message.type) {
      case 'connected':
        this.#connected = true
        this.#events.emit('connected')
        break
      case 'disconnected':
        this.#connected = false
        this.#events.emit('disconnected')
        break
      case 'message':
        if (this.#rtvi) this.#rtvi.receive(message.data)
        else this.#pass(message.data)
        break
      case 'dtmf':
        this.#events.emit('dtmf', message.keys)
        break
      case 'cleared':
        this.#playback.cleared(message.epoch, message.playedSamples)
        break
    }
  }

  #onFrame(frame: HostFrame): void {
    if (frame.kind === 'playback') {
      this.#playback.progress(frame)
      return
    }
    const { samples, capturedAt } = frame
    const sound: AudioFrame = { samples, sampleRate: this.audioInSampleRate, capturedAt }
    this.#events.emit('audio', sound)
    this.#hearing.add(sound)
  }

  #onEnded(reason: EndReason): void {
    this.#endReason = reason
    this.#connected = false
    this.#playback.end()
    this.#hearing.end()
    this.#events.emit('ended', reason)
    this.#abort.abort(new BotError('session_ended', `the session is over: ${reason.message}`))
  }

  #pass(message: unknown): boolean {
    this.#events.emit('message', message)
    return this.#events.has('message')
  }

  /** What a listener that comes late has missed and must still know. */
  #state(): Partial<TransportEvents> {
    if (this.#endReason !== undefined) return { ended: [this.#endReason] }
    return this.#connected ? { connected: [] } : {}
  }
}
