import { type Duplex, duplexPair } from 'node:stream'
import {
  type BotStart,
  type GuestMessage,
  type HostMessage,
  type HostPort,
  hostPort,
  type LinkFrame,
  type LinkStream,
} from '@botcli/protocol'
import type { BotFunction } from '../bot-function.ts'
import { type Guest, type GuestOptions, type GuestResult, runGuest } from '../guest/guest.ts'

/** How long a test waits for something that must happen. */
const WAIT_MS = 10_000

type Outgoing<Type extends GuestMessage['type']> = Extract<GuestMessage, { type: Type }>

/** The host's end of a link, with a record of all that the guest said. */
export class TestHost {
  readonly messages: GuestMessage[] = []
  readonly frames: Exclude<LinkFrame, { kind: 'control' }>[] = []
  readonly port: HostPort
  closed = false
  closeError: Error | undefined

  constructor(stream: LinkStream) {
    this.port = hostPort(stream, {
      message: (message) => this.messages.push(message),
      frame: (frame) => this.frames.push(frame),
      closed: (error) => {
        this.closed = true
        this.closeError = error
      },
    })
  }

  send(message: HostMessage): void {
    this.port.send(message)
  }

  /** Sends an application message. */
  say(data: unknown): void {
    this.send({ type: 'message', data })
  }

  /** Waits for the first message of a type. */
  async message<Type extends GuestMessage['type']>(type: Type): Promise<Outgoing<Type>> {
    const isIt = (message: GuestMessage): message is Outgoing<Type> => message.type === type
    return until(() => this.messages.find(isIt))
  }

  /** The application messages so far. */
  get said(): unknown[] {
    return this.messages.flatMap((message) => (message.type === 'message' ? [message.data] : []))
  }

  /** The sound so far. */
  get sound(): Extract<LinkFrame, { kind: 'audioOut' }>[] {
    return this.frames.flatMap((frame) => (frame.kind === 'audioOut' ? [frame] : []))
  }

  /** How many frames the guest says it has heard. */
  get heard(): number {
    return this.frames.reduce((heard, frame) => (frame.kind === 'heard' ? frame.frames : heard), 0)
  }
}

/** A guest that runs in this process, its host, and how it ended. */
export interface Running {
  readonly host: TestHost
  readonly guest: Guest
  readonly hostStream: Duplex
  readonly done: Promise<GuestResult>
  readonly lateErrors: unknown[]
}

/** Runs a guest over a link in memory. */
export function runInMemory(
  loadBot: () => Promise<BotFunction>,
  options: Partial<GuestOptions> = {},
): Running {
  const [hostStream, stream] = duplexPair()
  const host = new TestHost(hostStream)
  const lateErrors: unknown[] = []
  let finish = (_result: GuestResult): void => {}
  const done = new Promise<GuestResult>((resolve) => {
    finish = resolve
  })
  const guest = runGuest({
    stream,
    loadBot,
    pid: 1,
    runtime: 'test',
    onDone: (result) => finish(result),
    onLateError: (error) => lateErrors.push(error),
    ...options,
  })
  return { host, guest, hostStream, done, lateErrors }
}

/** What a WebRTC caller's session begins with. */
export const START: BotStart = {
  sessionId: 'session-1',
  transport: 'webrtc',
  body: { name: 'Ada' },
  webrtc: { pcId: 'peer-1' },
}

/** Runs a bot up to the beginning of its session. */
export async function startBot(
  bot: BotFunction,
  start: BotStart = START,
  options: Partial<GuestOptions> = {},
): Promise<Running> {
  const running = runInMemory(async () => bot, options)
  await running.host.message('ready')
  running.host.send({ type: 'start', start })
  return running
}

/** Waits until something is there. */
export async function until<T>(look: () => T | undefined | false): Promise<T> {
  const limit = Date.now() + WAIT_MS
  for (;;) {
    const found = look()
    if (found !== undefined && found !== false) return found
    if (Date.now() > limit) throw new Error(`nothing came within ${WAIT_MS} ms: ${look}`)
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
}
