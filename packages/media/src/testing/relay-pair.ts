import { duplexPair } from 'node:stream'
import type { BotStart } from '@botcli/protocol'
import type { WebSocket, WebSocketServer } from 'ws'
import { RelaySession } from '../relay/relay-session.ts'
import { SocketRelay, type SocketRelayOptions } from '../relay/socket-relay.ts'
import type { GuestOver } from '../session/guest-channel.ts'
import { socketPair } from './carrier-pair.ts'
import { ScriptedGuest } from './scripted-guest.ts'
import { until } from './until.ts'

/** What a bot that speaks its caller's socket itself is started with. */
export const RELAYED: BotStart = {
  sessionId: 'session-1',
  transport: 'websocket',
  passThrough: true,
  body: {},
  websocket: { path: '/ws-client', remoteAddress: '' },
}

/** A real client, a real connection, and a session that relays it to a guest of the test. */
export class RelayPair {
  readonly client: WebSocket
  readonly websocket: WebSocket
  readonly session: RelaySession<SocketRelay>
  readonly guest: ScriptedGuest
  readonly states: string[] = []
  readonly overs: GuestOver[] = []
  /** What the client got: text, or bytes. */
  readonly received: (string | Buffer)[] = []
  closed: { readonly code: number; readonly reason: string } | undefined
  readonly #server: WebSocketServer
  readonly #link

  private constructor(
    { server, carrier, websocket }: Awaited<ReturnType<typeof socketPair>>,
    clock: () => number,
    options: Pick<SocketRelayOptions, 'limits' | 'early'>,
  ) {
    this.#server = server
    this.client = carrier
    this.websocket = websocket
    carrier.on('message', (data: Buffer, isBinary: boolean) => {
      this.received.push(isBinary ? data : data.toString())
    })
    carrier.on('close', (code, reason) => {
      this.closed = { code, reason: reason.toString() }
    })
    this.session = new RelaySession({
      createRelay: (events) => new SocketRelay({ websocket, events, ...options }),
      events: {
        connected: () => this.states.push('connected'),
        disconnected: () => this.states.push('disconnected'),
        over: (reason) => this.overs.push(reason),
      },
      clock,
      maxMemoryBytes: 1024 ** 3,
    })
    const [link, far] = duplexPair()
    this.#link = link
    this.guest = new ScriptedGuest(far)
  }

  static async open({
    autoPong = true,
    joined = true,
    clock = () => performance.now(),
    ...options
  }: Pick<SocketRelayOptions, 'limits' | 'early'> & {
    readonly autoPong?: boolean
    readonly joined?: boolean
    readonly clock?: () => number
  } = {}): Promise<RelayPair> {
    const pair = new RelayPair(await socketPair(autoPong), clock, options)
    if (joined) pair.join()
    return pair
  }

  join(): void {
    this.session.join(this.#link, RELAYED)
  }

  /** Why the session has become pointless. */
  async over(): Promise<GuestOver> {
    await until('the session is over', () => this.overs.length > 0)
    return this.overs[0] as GuestOver
  }

  async whenClosed(): Promise<{ readonly code: number; readonly reason: string }> {
    await until('the client is told', () => this.closed !== undefined)
    return this.closed as { code: number; reason: string }
  }

  async close(): Promise<void> {
    this.client.terminate()
    await this.session.close({ result: 'ok', cause: 'stopped', message: 'The test is over.' }, 0)
    this.guest.stream.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
