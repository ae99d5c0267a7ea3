import { type Duplex, duplexPair } from 'node:stream'
import { LocalMediaHost } from '@botcli/media/local'
import {
  type DataFrame,
  type GuestMessage,
  type GuestPort,
  guestPort,
  type HostMessage,
  TRANSPORT_IDS,
} from '@botcli/protocol'
import { Hono } from 'hono'
import { HangUp } from '../carriers/hang-up.ts'
import type { Guest, GuestExit } from '../guests/guest.ts'
import { GuestPool } from '../guests/guest-pool.ts'
import { OriginPolicy } from '../http/origin-policy.ts'
import type { RunnerEnv } from '../http/runner-env.ts'
import { HttpServer } from '../http/server.ts'
import { WebsocketDoor } from '../http/websocket-door.ts'
import { Connector } from '../sessions/connector.ts'
import { SessionTable } from '../sessions/session-table.ts'
import { SessionTokens } from '../sessions/session-tokens.ts'
import { LogCapture } from './log-capture.ts'
import { until } from './runner-fixture.ts'

/** The least that can be the SDP of an offer. */
export const OFFER_SDP = [
  'v=0',
  'o=- 1 2 IN IP4 127.0.0.1',
  's=-',
  't=0 0',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111',
  'a=mid:0',
  'a=ice-ufrag:user',
  'a=ice-pwd:passwordpasswordpassword',
  `a=fingerprint:sha-256 ${Array(32).fill('AB').join(':')}`,
  'a=setup:actpass',
  'a=rtpmap:111 opus/48000/2',
  '',
].join('\r\n')

/** A guest that says only what a test lets it say. It answers a cancel, as every honest one does. */
export class HouseGuest implements Guest {
  readonly version: number
  readonly passThrough: boolean
  readonly exited: Promise<GuestExit>
  readonly messages: HostMessage[] = []
  readonly frames: DataFrame[] = []
  stopped = false
  readonly #link: Duplex
  readonly #port: GuestPort
  #exit: () => void = () => {}

  constructor(version: number, passThrough: boolean) {
    this.version = version
    this.passThrough = passThrough
    const [link, far] = duplexPair()
    this.#link = link
    this.exited = new Promise((resolve) => {
      this.#exit = () => resolve({ how: 'ended', outOfMemory: false })
    })
    this.#port = guestPort(far, {
      message: (message) => {
        this.messages.push(message)
        if (message.type === 'cancel') this.say({ type: 'end', outcome: 'returned' })
      },
      frame: (frame) => this.frames.push(frame),
      closed: () => this.#exit(),
    })
  }

  get socketMessages(): readonly unknown[] {
    return this.frames.flatMap((frame) => (frame.kind === 'socket' ? [frame.data] : []))
  }

  say(message: GuestMessage): void {
    this.#port.send(message)
  }

  send(data: string): void {
    this.#port.sendSocket(data)
  }

  release(): Duplex {
    return this.#link
  }

  async stop(): Promise<void> {
    this.stopped = true
    this.#link.destroy()
    this.#exit()
  }

  async told<Type extends HostMessage['type']>(type: Type): Promise<Extract<HostMessage, { type: Type }>> {
    const find = () =>
      this.messages.find((message): message is Extract<HostMessage, { type: Type }> => message.type === type)
    return until(find, `the guest to be told ${type}`)
  }
}

/** The door, the sessions and a media host of a runner, with guests that a test plays. */
export class PassThroughHouse {
  readonly log = new LogCapture()
  readonly table = new SessionTable({ maxSessions: 10, maxDurationMs: 60_000, logger: this.log.logger })
  readonly host = new LocalMediaHost({ ice: {}, maxMemoryBytes: 1024 ** 3 })
  readonly guests: HouseGuest[] = []
  readonly hungUp: string[] = []
  readonly connector: Connector
  readonly #pool: GuestPool
  readonly #server: HttpServer
  #version = 0
  #passThrough = true

  private constructor() {
    const logger = this.log.logger
    this.#pool = new GuestPool({
      warm: 0,
      logger,
      create: async ({ version }) => {
        const guest = new HouseGuest(version, this.#passThrough)
        this.guests.push(guest)
        return guest
      },
    })
    const telephony = { a: { accountId: 'account', authToken: 'secret' } }
    const fetch = async (url: string) => {
      this.hungUp.push(url)
      return new Response('{}')
    }
    this.connector = new Connector({
      table: this.table,
      media: { pick: async () => this.host, close: async () => {} },
      guests: this.#pool,
      hangUp: new HangUp({ telephony, logger, fetch: fetch as typeof globalThis.fetch }),
    })
    const door = new WebsocketDoor({
      transports: TRANSPORT_IDS,
      wsAuth: 'none',
      evals: false,
      origins: new OriginPolicy([]),
      table: this.table,
      tokens: new SessionTokens(),
      connector: this.connector,
      logger,
    })
    this.#server = new HttpServer({ host: '127.0.0.1', port: 0, app: new Hono<RunnerEnv>(), door })
  }

  static async open(): Promise<PassThroughHouse> {
    const house = new PassThroughHouse()
    await house.save(true)
    await house.#server.listen()
    return house
  }

  url(path: string): string {
    return `ws://${this.#server.address}${path}`
  }

  /** The bot is saved: from now on it speaks the wires of its callers itself, or not. */
  async save(passThrough: boolean): Promise<void> {
    this.#version += 1
    this.#passThrough = passThrough
    const program = { start: () => Promise.reject(new Error('not in this test')) }
    await this.#pool.use({ kind: 'python', version: this.#version, program })
    this.guests.length = 0
  }

  /** The bot is saved in another way, and nobody has noticed yet. */
  saveUnseen(passThrough: boolean): void {
    this.#passThrough = passThrough
  }

  /** The guest that was taken last. */
  guest(): Promise<HouseGuest> {
    return until(() => this.guests.at(-1), 'a guest')
  }

  async close(): Promise<void> {
    await this.table.close('shutdown', 'The runner is shutting down.', 1000)
    await this.#pool.close()
    await this.#server.close()
  }
}
