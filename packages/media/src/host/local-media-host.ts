import type { Duplex } from 'node:stream'
import { Ticker } from '@botcli/audio'
import type { BotStart, IceCandidate, SessionOutcome, TransportId } from '@botcli/protocol'
import type { WebSocket } from 'ws'
import { CarrierWire } from '../carriers/carrier-wire.ts'
import { type Greeting, recognise } from '../carriers/recognise.ts'
import { MediaError } from '../errors.ts'
import { RoomWire } from '../room/room-wire.ts'
import { type MediaReport, MediaSession } from '../session/media-session.ts'
import { WebrtcWire } from '../webrtc/webrtc-wire.ts'
import { acceptUpgrade, type UpgradeRequest } from '../websocket/upgrade.ts'
import { WebsocketWire } from '../websocket/websocket-wire.ts'
import type { IceOptions } from '../wire.ts'
import type { CarrierCall, HostedSessionEvents, MediaHost, PeerAnswer } from './media-host.ts'

/** What a host is told once, for all its sessions. */
export interface MediaHostOptions {
  readonly ice: IceOptions
  /** A bot that grows beyond this is ended. */
  readonly maxMemoryBytes: number
}

/** Hears about what is not a session's fault. */
export type MediaLog = (message: string, detail?: object) => void

interface Hosted {
  readonly session: MediaSession
  readonly events: HostedSessionEvents
  /** Only a peer connection can be negotiated again. */
  readonly peer?: WebrtcWire
  /** Only a phone call has to be heard out. */
  readonly carrier?: CarrierWire
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
    const session = new MediaSession({
      ...this.#sessionOptions(events),
      createWire: (wireEvents) =>
        new WebrtcWire({ events: wireEvents, ice: this.#options.ice, clock: this.#clock, log: this.#log }),
    })
    this.#hold(sessionId, { session, events, peer: session.wire })
    try {
      return await session.wire.answer(offer, false)
    } catch (error) {
      this.#letGo(sessionId)
      await session.close({ result: 'ok', cause: 'client_left', message: 'The offer was refused.' }, 0)
      throw error
    }
  }

  async openWebsocket(
    sessionId: string,
    request: UpgradeRequest,
    socket: Duplex,
    events: HostedSessionEvents,
  ): Promise<void> {
    const websocket = acceptedWebsocket(request, socket)
    const session = new MediaSession({
      ...this.#sessionOptions(events),
      createWire: (wireEvents) => new WebsocketWire({ websocket, events: wireEvents, clock: this.#clock }),
    })
    this.#hold(sessionId, { session, events })
  }

  async openCarrier(
    sessionId: string,
    request: UpgradeRequest,
    socket: Duplex,
    served: readonly TransportId[],
    events: HostedSessionEvents,
  ): Promise<CarrierCall> {
    const websocket = acceptedWebsocket(request, socket, { lenient: true })
    const greeting = await this.#greeting(sessionId, websocket, served)
    const session = new MediaSession({
      ...this.#sessionOptions(events),
      createWire: (wireEvents) =>
        new CarrierWire({ websocket, greeting, events: wireEvents, clock: this.#clock, log: this.#log }),
    })
    this.#hold(sessionId, { session, events, carrier: session.wire })
    session.wire.listen()
    return callOf(greeting)
  }

  async openRoom(sessionId: string, events: HostedSessionEvents): Promise<void> {
    const session = new MediaSession({
      ...this.#sessionOptions(events),
      createWire: (wireEvents) => new RoomWire(wireEvents),
    })
    this.#hold(sessionId, { session, events })
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

  async close(
    sessionId: string,
    outcome: SessionOutcome,
    deadlineMs: number,
  ): Promise<MediaReport | undefined> {
    this.#arrivals.get(sessionId)?.abort(outcome)
    const hosted = this.#sessions.get(sessionId)
    if (hosted === undefined) return undefined
    this.#letGo(sessionId)
    await Promise.all([hosted.session.close(outcome, deadlineMs), hosted.carrier?.finished])
    return hosted.session.report()
  }

  async #greeting(
    sessionId: string,
    websocket: WebSocket,
    served: readonly TransportId[],
  ): Promise<Greeting> {
    const arrival = new AbortController()
    this.#arrivals.set(sessionId, arrival)
    try {
      return await recognise(websocket, { served, clock: this.#clock, signal: arrival.signal })
    } finally {
      this.#arrivals.delete(sessionId)
    }
  }

  #sessionOptions(events: HostedSessionEvents) {
    return {
      events,
      ticker: this.#ticker,
      clock: this.#clock,
      maxMemoryBytes: this.#options.maxMemoryBytes,
    }
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

function callOf({ dialect, start }: Greeting): CarrierCall {
  const {
    hears: { codec, rate },
    speaks: _,
    ...call
  } = start
  return { transport: dialect.transport, ...call, codec, rate }
}
