import { type Duplex, duplexPair } from 'node:stream'
import { type BotStart, type GuestPort, guestPort, type HostMessage, type LinkFrame } from '@botcli/protocol'
import type { GuestOver } from '../session/guest-channel.ts'
import { MediaSession } from '../session/media-session.ts'
import { ManualTime } from './manual-time.ts'
import { RecordingWire } from './recording-wire.ts'
import { until } from './until.ts'

/** What the bot of a test is started with. */
export const START: BotStart = {
  sessionId: 'session-1',
  transport: 'websocket',
  body: {},
  websocket: { path: '/ws-client', remoteAddress: '' },
}

/** A session with a real link; a test plays the caller, the bot and the clock. */
export class SessionFixture {
  readonly time = new ManualTime()
  readonly session: MediaSession<RecordingWire>
  readonly hostStream: Duplex
  /** The guest's end of the link, for bytes that no honest guest sends. */
  readonly guestStream: Duplex
  readonly guest: GuestPort
  /** What the guest was told. */
  readonly messages: HostMessage[] = []
  readonly frames: Exclude<LinkFrame, { kind: 'control' }>[] = []
  /** What the session told its owner. */
  readonly overs: GuestOver[] = []
  readonly states: string[] = []
  linkClosed = false

  constructor(options: { readonly joined?: boolean; readonly maxMemoryBytes?: number } = {}) {
    this.session = new MediaSession({
      createWire: (events) => new RecordingWire(events),
      events: {
        connected: () => this.states.push('connected'),
        disconnected: () => this.states.push('disconnected'),
        over: (reason) => this.overs.push(reason),
      },
      ticker: this.time.ticker,
      clock: this.time.clock,
      maxMemoryBytes: options.maxMemoryBytes ?? 1024 * 1024,
    })
    const [hostStream, guestStream] = duplexPair()
    this.hostStream = hostStream
    this.guestStream = guestStream
    this.guest = guestPort(guestStream, {
      message: (message) => this.messages.push(message),
      frame: (frame) => this.frames.push(frame),
      closed: () => {
        this.linkClosed = true
      },
    })
    if (options.joined !== false) this.join()
  }

  get wire(): RecordingWire {
    return this.session.wire
  }

  join(): void {
    this.session.join(this.hostStream, START)
  }

  /** The guest chooses 16 kHz both ways, the caller is there, and the first credit has come. */
  async talk(): Promise<void> {
    this.wire.events.connected()
    this.guest.send({ type: 'format', inputRate: 16_000, outputRate: 16_000 })
    await until('the guest has its first credit', () => this.frames.some(({ kind }) => kind === 'playback'))
  }

  /** The first message of this type that the guest was told. */
  async told<Type extends HostMessage['type']>(type: Type): Promise<Extract<HostMessage, { type: Type }>> {
    const find = () =>
      this.messages.find((message): message is Extract<HostMessage, { type: Type }> => message.type === type)
    await until(`the guest is told ${type}`, () => find() !== undefined)
    return find() as Extract<HostMessage, { type: Type }>
  }

  /** Why the session has become pointless. */
  async over(): Promise<GuestOver> {
    await until('the session is over', () => this.overs.length > 0)
    return this.overs[0] as GuestOver
  }

  async close(deadlineMs = 0): Promise<void> {
    await this.session.close({ result: 'ok', cause: 'stopped', message: 'The test is over.' }, deadlineMs)
    this.guestStream.destroy()
  }
}
