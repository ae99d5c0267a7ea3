import {
  clientMessageSchema,
  clientReadySchema,
  RTVI_LABEL,
  RTVI_VERSION,
  type RtviMessage,
  rtviDtmfSchema,
  rtviError,
  rtviMessage,
  rtviMessageSchema,
  sendTextSchema,
} from '@botcli/protocol'
import { Emitter } from './emitter.ts'
import { BotError } from './errors.ts'
import { isKeys } from './keys.ts'
import type { Rtvi, RtviRequest, TypedText } from './rtvi.ts'

interface RtviEvents {
  ready: []
  text: [TypedText]
  request: [RtviRequest]
}

/** What the conversation needs of its transport. */
export interface RtviPort {
  send(message: RtviMessage): void
  /** Gives a message to the bot as it is; false when nobody wants it. */
  pass(message: unknown): boolean
  keys(keys: string): void
  /** The client wants the bot to stop. */
  disconnect(): void
  fail(error: unknown): void
}

/** What the session can carry, as 2.2 clients want to know it. */
const CAPABILITIES = {
  audio_in: true,
  audio_out: true,
  video_in: false,
  screen_in: false,
  video_out: false,
  metrics: true,
}

/** Speaks RTVI over messages. */
export class RtviConversation implements Rtvi {
  readonly #port: RtviPort
  readonly #events: Emitter<RtviEvents>
  #clientVersion: string | undefined
  #ready = false
  #segments = 0

  constructor(port: RtviPort) {
    this.#port = port
    this.#events = new Emitter((error) => port.fail(error))
  }

  get clientVersion(): string | undefined {
    return this.#clientVersion
  }

  onClientReady(listener: () => void): void {
    if (this.#ready) this.#events.call(listener)
    else this.#events.on('ready', listener)
  }

  onText(listener: (text: TypedText) => void): void {
    this.#events.on('text', listener)
  }

  onRequest(listener: (request: RtviRequest) => void): void {
    this.#events.on('request', listener)
  }

  userStartedSpeaking(): void {
    this.send('user-started-speaking')
  }

  userStoppedSpeaking(): void {
    this.send('user-stopped-speaking')
  }

  botStartedSpeaking(): void {
    this.send('bot-started-speaking')
  }

  botStoppedSpeaking(): void {
    this.send('bot-stopped-speaking')
  }

  botInterrupted(): void {
    this.send('bot-interrupted')
  }

  userTranscription(text: string, options: { readonly final?: boolean } = {}): void {
    this.send('user-transcription', {
      text,
      final: options.final ?? true,
      timestamp: new Date().toISOString(),
      user_id: '',
    })
  }

  userInput(text: string): void {
    if (this.#major() < 2) return
    this.send('user-input', { text, input_type: 'chat', final: true, timestamp: new Date().toISOString() })
  }

  botOutput(text: string, options: { readonly spoken?: boolean } = {}): void {
    const spoken = options.spoken ?? true
    this.#segments += 1
    // Each version reads its own fields: `spoken` is 1.x, the three types are one value under its successive names.
    this.send('bot-output', {
      text,
      output_type: 'sentence',
      text_type: 'sentence',
      aggregated_by: 'sentence',
      segment_id: this.#segments,
      spoken,
      will_be_spoken: spoken,
      spoken_status: spoken ? 'completed' : 'new',
    })
    if (spoken && this.#major() < 2) this.send('bot-transcription', { text })
  }

  serverMessage(data: unknown): void {
    this.send('server-message', data)
  }

  error(message: string, options: { readonly fatal?: boolean } = {}): void {
    this.#port.send(rtviError(message, options.fatal ?? false))
  }

  send(type: string, data?: unknown): void {
    this.#port.send(rtviMessage(type, data))
  }

  /** Takes one message of the client. */
  receive(message: unknown): void {
    if (!isLabelled(message)) {
      this.#port.pass(message)
      return
    }
    const parsed = rtviMessageSchema.safeParse(message)
    if (parsed.success) this.#receive(parsed.data)
    else this.error('an RTVI message needs a type and an id, both text')
  }

  #receive(message: RtviMessage): void {
    switch (message.type) {
      case 'client-ready':
        this.#onReady(message)
        break
      case 'client-message':
        if (this.#events.has('request')) this.#onRequest(message)
        else this.#pass(message)
        break
      case 'send-text':
        if (this.#events.has('text')) this.#onText(message)
        else this.#pass(message)
        break
      case 'dtmf':
        this.#onKeys(message)
        break
      case 'disconnect-bot':
        this.#port.disconnect()
        break
      default:
        this.#pass(message)
    }
  }

  #onReady(message: RtviMessage): void {
    const version = clientReadySchema.safeParse(message.data).data?.version
    const known = version !== undefined && /^[12]\.\d+\.\d+$/.test(version)
    if (!known) {
      this.#refuse(
        message,
        `RTVI ${version ?? 'without a version'} is not known here; 1.x and ${RTVI_VERSION} are`,
      )
    }
    this.#clientVersion = version
    // A client of version 1 takes a bot of version 2 for a stranger, so it is told its own.
    const answered = known && version.startsWith('1.') ? version : RTVI_VERSION
    const data = { version: answered, about: { library: 'botcli' }, capabilities: CAPABILITIES }
    this.#port.send(rtviMessage('bot-ready', data, message.id))
    if (this.#ready) return
    this.#ready = true
    this.#events.emit('ready')
  }

  #onRequest(message: RtviMessage): void {
    const parsed = clientMessageSchema.safeParse(message.data)
    if (!parsed.success) {
      this.#refuse(message, 'a client-message needs its type as text in `t`')
      return
    }
    const { t, d } = parsed.data
    let open = true
    const answer = (type: string, data: unknown): void => {
      if (!open) throw new BotError('already_answered', `the request '${t}' was answered already`)
      open = false
      this.#port.send(rtviMessage(type, data, message.id))
    }
    this.#events.emit('request', {
      type: t,
      data: d,
      respond: (data) => answer('server-response', { t, d: data }),
      fail: (text) => answer('error-response', { error: text }),
    })
  }

  #onText(message: RtviMessage): void {
    const parsed = sendTextSchema.safeParse(message.data)
    if (!parsed.success) {
      this.#refuse(message, 'send-text needs text in `content`')
      return
    }
    const { content, options } = parsed.data
    this.#events.emit('text', {
      text: content,
      runImmediately: options?.run_immediately ?? true,
      audioResponse: options?.audio_response ?? true,
    })
  }

  #onKeys(message: RtviMessage): void {
    const parsed = rtviDtmfSchema.safeParse(message.data)
    const keys = parsed.success
      ? 'button' in parsed.data
        ? parsed.data.button
        : parsed.data.buttons.join('')
      : ''
    if (isKeys(keys)) this.#port.keys(keys)
    else this.#refuse(message, 'dtmf needs keys in `buttons`: 0-9, *, #, A-D')
  }

  #pass(message: RtviMessage): void {
    if (!this.#port.pass(message)) this.#refuse(message, `the bot does not handle '${message.type}'`)
  }

  #refuse(message: RtviMessage, error: string): void {
    this.#port.send(rtviMessage('error-response', { error }, message.id))
  }

  /** A client that has not said its version is taken for a new one. */
  #major(): number {
    return this.#clientVersion?.startsWith('1.') ? 1 : 2
  }
}

function isLabelled(message: unknown): boolean {
  return typeof message === 'object' && message !== null && 'label' in message && message.label === RTVI_LABEL
}
