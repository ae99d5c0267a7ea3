import type { Duplex } from 'node:stream'
import { Ticker } from '@botcli/audio'
import type { BotRequest, BotResponse, BotStart, IceCandidate, SessionOutcome } from '@botcli/protocol'
import type { WebSocket } from 'ws'
import { CarrierWire } from '../carriers/carrier-wire.ts'
import { type CallGreeting, recognise } from '../carriers/recognise.ts'
import { MediaError } from '../errors.ts'
import { PeerRelay } from '../relay/peer-relay.ts'
import type { CreateRelay, Relay } from '../relay/relay.ts'
import { RelaySession } from '../relay/relay-session.ts'
import { SocketRelay } from '../relay/socket-relay.ts'
import { RoomWire } from '../room/room-wire.ts'
import type { HostedSession, MediaEnd } from '../session/hosted-session.ts'
import { MediaSession } from '../session/media-session.ts'
import { checkOffer } from '../webrtc/sdp-offer.ts'
import { WebrtcWire } from '../webrtc/webrtc-wire.ts'
import { acceptUpgrade, type UpgradeRequest } from '../websocket/upgrade.ts'
import { WebsocketWire } from '../websocket/websocket-wire.ts'
import type { IceOptions, PeerEnd, Wire, WireEvents } from '../wire.ts'
import type {
  CallDoor,
  CarrierCall,
  EvalCaller,
  HostedSessionEvents,
  MediaHost,
  PeerAnswer,
} from './media-host.ts'

/** What a host is told once, for all its sessions. */
export interface MediaHostOptions {
  readonly ice: IceOptions
  /** A bot that grows beyond this is ended. */
  readonly maxMemoryBytes: number
}

/** Hears about what is not a session's fault. */
export type MediaLog = (message: string, detail?: object) => void

interface Hosted {
  readonly session: HostedSession
  readonly events: HostedSessionEvents
  /** Only a peer connection can be negotiated again. */
  readonly peer?: PeerEnd
}

/** Holds wires in this very process. */
export class LocalMediaHost implements MediaHost {
  readonly #options: MediaHostOptions
  readonly #log: MediaLog
  readonly #sessions = new Map<string, Hosted>()
  /** Calls whose carrier is not known yet. */
  readonly #arrivals = new Map<string, AbortController>()
  readonly #ticker: Ticker
  readonly #clock = () => performance.now()
  #heart: NodeJS.Timeout | undefined

  constructor(options: MediaHostOptions, log: MediaLog = () => {}) {
    this.#options = options
    this.#log = log
    this.#ticker = new Ticker({
      intervalMs: 20,
      // After a stall sound goes out late rather than never: what is skipped would stay as delay.
      maxCatchUp: 10,
      onError: (error) => log('A step of the playout failed.', { error: String(error) }),
    })
  }

  get load(): number {
    return this.#sessions.size + this.#arrivals.size
  }

  async openWebrtc(sessionId: string, offer: string, events: HostedSessionEvents): Promise<PeerAnswer> {
    const { ice } = this.#options
    const session = this.#wired(
      events,
      (wireEvents) => new WebrtcWire({ events: wireEvents, ice, clock: this.#clock, log: this.#log }),
    )
    this.#hold(sessionId, { session, events, peer: session.wire })
    try {
      return await session.wire.answer(offer, false)
    } catch (error) {
      this.#letGo(sessionId)
      await session.close({ result: 'ok', cause: 'client_left', message: 'The offer was refused.' }, 0)
      throw error
    }
  }

  async openPeerRelay(sessionId: string, offer: string, events: HostedSessionEvents): Promise<void> {
    checkOffer(offer)
    const session = this.#relayed(events, (relayEvents) => new PeerRelay(relayEvents))
    this.#hold(sessionId, { session, events, peer: session.relay })
  }

  async openWebsocket(
    sessionId: string,
    request: UpgradeRequest,
    socket: Duplex,
    passThrough: boolean,
    events: HostedSessionEvents,
  ): Promise<void> {
    const websocket = acceptedWebsocket(request, socket)
    const session = passThrough
      ? this.#relayed(events, (relayEvents) => new SocketRelay({ websocket, events: relayEvents }))
      : this.#wired(
          events,
          (wireEvents) => new WebsocketWire({ websocket, events: wireEvents, clock: this.#clock }),
        )
    this.#hold(sessionId, { session, events })
  }

  async openCarrier(
    sessionId: string,
    request: UpgradeRequest,
    socket: Duplex,
    door: CallDoor,
    events: HostedSessionEvents,
  ): Promise<CarrierCall | EvalCaller> {
    const websocket = acceptedWebsocket(request, socket, { lenient: true })
    const greeting = await this.#greeting(sessionId, websocket, door)
    if (greeting.kind === 'eval' || door.passThrough) {
      const early = [...greeting.opening, ...greeting.takeOver()]
      const session = this.#relayed(
        events,
        (relayEvents) => new SocketRelay({ websocket, early, events: relayEvents }),
      )
      this.#hold(sessionId, { session, events })
      return greeting.kind === 'eval' ? { transport: 'eval' } : callOf(greeting)
    }
    const session = this.#wired(
      events,
      (wireEvents) =>
        new CarrierWire({ websocket, greeting, events: wireEvents, clock: this.#clock, log: this.#log }),
    )
    this.#hold(sessionId, { session, events })
    session.wire.listen()
    return callOf(greeting)
  }

  async openRoom(sessionId: string, events: HostedSessionEvents): Promise<void> {
    this.#hold(sessionId, { session: this.#wired(events, (wireEvents) => new RoomWire(wireEvents)), events })
  }

  async join(sessionId: string, link: Duplex, start: BotStart): Promise<void> {
    const hosted = this.#sessions.get(sessionId)
    if (hosted === undefined) {
      link.destroy()
      throw new MediaError('media_unavailable', 'The caller is no longer there.')
    }
    hosted.session.join(link, start)
  }

  async negotiate(sessionId: string, offer: string, restart: boolean): Promise<PeerAnswer> {
    const peer = this.#sessions.get(sessionId)?.peer
    if (peer === undefined)
      throw new MediaError('media_unavailable', 'The peer connection is no longer there.')
    return peer.answer(offer, restart)
  }

  addCandidates(sessionId: string, candidates: readonly IceCandidate[]): void {
    this.#sessions.get(sessionId)?.peer?.addCandidates(candidates)
  }

  async request(sessionId: string, request: BotRequest): Promise<BotResponse> {
    const session = this.#sessions.get(sessionId)?.session
    if (session === undefined) throw new MediaError('media_unavailable', 'The caller is no longer there.')
    return session.requests.ask(request)
  }

  async close(sessionId: string, outcome: SessionOutcome, deadlineMs: number): Promise<MediaEnd | undefined> {
    this.#arrivals.get(sessionId)?.abort(outcome)
    const hosted = this.#sessions.get(sessionId)
    if (hosted === undefined) return undefined
    this.#letGo(sessionId)
    return hosted.session.close(outcome, deadlineMs)
  }

  async #greeting(sessionId: string, websocket: WebSocket, door: CallDoor) {
    const arrival = new AbortController()
    this.#arrivals.set(sessionId, arrival)
    try {
      return await recognise(websocket, { ...door, clock: this.#clock, signal: arrival.signal })
    } finally {
      this.#arrivals.delete(sessionId)
    }
  }

  /** A session whose wire is ours to speak. */
  #wired<W extends Wire>(events: HostedSessionEvents, createWire: (events: WireEvents) => W) {
    const { maxMemoryBytes } = this.#options
    return new MediaSession({ createWire, events, ticker: this.#ticker, clock: this.#clock, maxMemoryBytes })
  }

  /** A session whose wire the bot speaks itself. */
  #relayed<R extends Relay>(events: HostedSessionEvents, createRelay: CreateRelay<R>) {
    const { maxMemoryBytes } = this.#options
    return new RelaySession({ createRelay, events, clock: this.#clock, maxMemoryBytes })
  }

  #hold(sessionId: string, hosted: Hosted): void {
    this.#sessions.set(sessionId, hosted)
    this.#heart ??= setInterval(() => this.#beat(), 1000)
  }

  #letGo(sessionId: string): void {
    this.#sessions.delete(sessionId)
    if (this.#sessions.size > 0) return
    clearInterval(this.#heart)
    this.#heart = undefined
  }

  #beat(): void {
    for (const { session, events } of this.#sessions.values()) {
      session.beat()
      events.report(session.report())
    }
  }
}

function acceptedWebsocket(
  request: UpgradeRequest,
  socket: Duplex,
  options?: { readonly lenient: boolean },
): WebSocket {
  const websocket = acceptUpgrade(request, socket, options)
  if (websocket !== undefined) return websocket
  throw new MediaError('invalid_upgrade', 'The request is not a valid WebSocket handshake.')
}

function callOf({ dialect, start }: CallGreeting): CarrierCall {
  const {
    hears: { codec, rate },
    speaks: _,
    ...call
  } = start
  return { transport: dialect.transport, ...call, codec, rate }
}
