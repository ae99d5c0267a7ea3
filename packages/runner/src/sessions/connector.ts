import type { Socket } from 'node:net'
import {
  type CallDoor,
  type CarrierCall,
  type EvalCaller,
  MediaError,
  type MediaHost,
  type UpgradeRequest,
} from '@botcli/media'
import {
  type BotStart,
  type CandidatesRequest,
  type OfferAnswer,
  type OfferRequest,
  outcomeOf,
} from '@botcli/protocol'
import type { HangUp } from '../carriers/hang-up.ts'
import type { Guest } from '../guests/guest.ts'
import type { GuestPool } from '../guests/guest-pool.ts'
import type { MediaHosts } from '../media/media-pool.ts'
import { RequestError } from '../request-error.ts'
import { type CallerAddress, socketAddress } from './caller-address.ts'
import { plainHeaders, plainQuery } from './plain-headers.ts'
import type { Session } from './session.ts'
import type { SessionTable } from './session-table.ts'

/** What joins callers and bots. */
export interface ConnectorOptions {
  readonly table: SessionTable
  readonly media: MediaHosts
  readonly guests: GuestPool
  readonly hangUp: HangUp
  /** From where callers come. By default that is the other end of their sockets. */
  readonly callerAddress?: CallerAddress
}

/** Brings a caller's wire and a guest together in a session. */
export class Connector {
  readonly #table: SessionTable
  readonly #media: MediaHosts
  readonly #guests: GuestPool
  readonly #hangUp: HangUp
  readonly #callerAddress: CallerAddress

  constructor({ table, media, guests, hangUp, callerAddress = socketAddress }: ConnectorOptions) {
    this.#table = table
    this.#media = media
    this.#guests = guests
    this.#hangUp = hangUp
    this.#callerAddress = callerAddress
  }

  /** Answers an offer: the first one of a session brings its bot, a later one mends or replaces the peer. */
  async offer(sessionId: string | undefined, request: OfferRequest): Promise<OfferAnswer> {
    if (request.pc_id) return this.#negotiate(this.#peerSession(sessionId, request.pc_id), request)
    const data = request.requestData ?? request.request_data ?? {}
    if (sessionId !== undefined) return this.#connectPeer(this.#table.live(sessionId), request.sdp, data)
    const session = this.#table.create('webrtc', data)
    try {
      return await this.#connectPeer(session, request.sdp, data)
    } catch (error) {
      this.#table.discard(session, error instanceof Error ? error.message : String(error))
      throw error
    }
  }

  /** Hands on the candidates that a caller found after its offer. */
  addCandidates(sessionId: string | undefined, request: CandidatesRequest): void {
    const session = this.#peerSession(sessionId, request.pc_id)
    const candidates = request.candidates.map(({ candidate, sdp_mid: mid }) => ({
      candidate,
      mid: mid ?? '0',
    }))
    session.host?.addCandidates(session.id, candidates)
  }

  /** Brings a WebSocket caller in. Until this rejects or resolves, the socket may be the media host's. */
  async websocket(session: Session, request: UpgradeRequest, socket: Socket): Promise<void> {
    session.claim()
    const remoteAddress = this.#callerAddress(request, socket)
    const guest = await this.#orRevert(session, this.#guestUnlessGone(socket))
    const { passThrough } = guest
    try {
      const host = await this.#media.pick()
      session.place(host)
      await host.openWebsocket(session.id, request, socket, passThrough, session.events)
    } catch (error) {
      session.revert()
      await guest.stop(0)
      throw error
    }
    session.join(guest, {
      transport: 'websocket',
      ...socketFacts(request, remoteAddress, passThrough),
    })
  }

  /**
   * Brings in who comes where phone calls arrive, if the door lets it: a carrier, or an eval. When it rejects with `invalid_call`,
   * the caller was told why and the socket is not ours any more.
   */
  async call(
    session: Session,
    request: UpgradeRequest,
    socket: Socket,
    admission: Omit<CallDoor, 'passThrough'>,
  ): Promise<void> {
    await this.#guests.check()
    const passThrough = await this.#guests.passesThrough()
    session.claim()
    const remoteAddress = this.#callerAddress(request, socket)
    const host = await this.#orRevert(session, this.#media.pick())
    session.place(host)
    const door = { ...admission, passThrough }
    const opening = host.openCarrier(session.id, request, socket, door, session.events)
    const caller = await this.#orRevert(session, opening)
    session.identify(caller.transport)
    const isEval = caller.transport === 'eval'
    if (!isEval) session.sayFarewell(this.#hangUp.follow(caller.transport, caller.callId, session.logger))
    try {
      // Every bot speaks with an eval itself.
      const guest = await (isEval ? this.#guests.take() : this.#takeSuch(passThrough))
      const facts = socketFacts(request, remoteAddress, isEval || passThrough)
      session.join(guest, { ...startOfCall(session, caller), ...facts })
    } catch (error) {
      // The caller is on the line by now, so it is hung up rather than refused.
      const message = error instanceof Error ? error.message : String(error)
      await session.end('bot_failed', message)
      // A session that was over before cannot have closed this wire.
      await host.close(session.id, outcomeOf('bot_failed', message), 0)
    }
  }

  /** Sends a bot to a room, where it meets its callers by itself. */
  async room(
    session: Session,
    room: NonNullable<BotStart['room']>,
    body: BotStart['body'] = session.body,
  ): Promise<void> {
    session.claim()
    const host = await this.#orRevert(session, this.#media.pick())
    session.place(host)
    await this.#orRevert(session, host.openRoom(session.id, session.events))
    const guest = await this.#guestFor(session, host, () => this.#guests.take())
    session.join(guest, { transport: 'room', room, body: { ...body } })
  }

  /** A guest for a client that is still there when the guest is. */
  async #guestUnlessGone(socket: Socket): Promise<Guest> {
    const guest = this.#guests.take()
    let leave = () => {}
    const gone = new Promise<never>((_, reject) => {
      leave = () => reject(new RequestError('session_not_found', 'The client left before its bot was there.'))
    })
    // Only a socket that is read tells that its other end has closed. An honest client says nothing before our answer.
    socket.on('end', leave).on('close', leave).resume()
    try {
      return await Promise.race([guest, gone])
    } catch (error) {
      guest.then(
        (unused) => unused.stop(0),
        () => {},
      )
      throw error
    } finally {
      socket.pause().off('end', leave).off('close', leave)
    }
  }

  async #connectPeer(
    session: Session,
    sdp: string,
    data: Readonly<Record<string, unknown>>,
  ): Promise<OfferAnswer> {
    if (session.transport !== 'webrtc') {
      throw new RequestError('invalid_offer', `This session was started for ${session.transport}.`)
    }
    session.claim()
    const passThrough = await this.#orRevert(session, this.#guests.passesThrough())
    const host = await this.#orRevert(session, this.#media.pick())
    session.place(host)
    const body = { ...(Object.keys(session.body).length > 0 ? session.body : data) }
    if (passThrough) return this.#passOffer(session, host, sdp, body)
    const answer = await this.#orRevert(session, host.openWebrtc(session.id, sdp, session.events))
    const guest = await this.#guestFor(session, host, () => this.#takeSuch(false))
    session.join(guest, { transport: 'webrtc', webrtc: { pcId: answer.pcId }, body })
    return this.#answerOf(session, answer)
  }

  /** Lets the bot itself answer. What only the bot can find wrong with an offer costs the bot, too. */
  async #passOffer(
    session: Session,
    host: MediaHost,
    sdp: string,
    body: BotStart['body'],
  ): Promise<OfferAnswer> {
    await this.#orRevert(session, host.openPeerRelay(session.id, sdp, session.events))
    const guest = await this.#guestFor(session, host, () => this.#takeSuch(true))
    const answering = host.negotiate(session.id, sdp, false)
    // It is looked at below, unless the session is over by then.
    answering.catch(() => {})
    // Without an answer the bot was never called.
    session.join(guest, { transport: 'webrtc', passThrough: true, body }, answering)
    try {
      return this.#answerOf(session, await answering)
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      if (error instanceof MediaError && error.code === 'invalid_offer') await session.abandon(message)
      else await session.end('media_failed', message)
      throw error
    }
  }

  async #negotiate(session: Session, { sdp, restart_pc: restart }: OfferRequest): Promise<OfferAnswer> {
    if (session.host === undefined) throw new RequestError('peer_not_found', 'The session is ending.')
    return this.#answerOf(session, await session.host.negotiate(session.id, sdp, restart === true))
  }

  #answerOf(session: Session, { sdp, pcId }: { readonly sdp: string; readonly pcId: string }): OfferAnswer {
    this.#table.rememberPeer(pcId, session)
    return { sdp, type: 'answer', pc_id: pcId, sessionId: session.id }
  }

  #peerSession(sessionId: string | undefined, pcId: string): Session {
    if (sessionId !== undefined) this.#table.live(sessionId)
    const session = this.#table.byPeer(pcId)
    if (sessionId === undefined || session.id === sessionId) return session
    throw new RequestError('peer_not_found', 'This peer connection belongs to another session.')
  }

  /** A guest that fits the wire that was made for it. */
  async #takeSuch(passThrough: boolean): Promise<Guest> {
    const guest = await this.#guests.take()
    if (guest.passThrough === passThrough) return guest
    await guest.stop(0)
    throw new RequestError(
      'bot_not_loaded',
      'The bot was saved while its caller connected, and reaches its callers in another way now. Try again.',
    )
  }

  async #guestFor(session: Session, host: MediaHost, take: () => Promise<Guest>): Promise<Guest> {
    try {
      return await take()
    } catch (error) {
      await host.close(session.id, { result: 'failed', cause: 'bot_failed', message: String(error) }, 0)
      session.revert()
      throw error
    }
  }

  async #orRevert<T>(session: Session, work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (error) {
      session.revert()
      throw error
    }
  }
}

/** What a bot is told of its caller's socket; one that speaks the wire itself may want to know how it was asked for. */
function socketFacts(request: UpgradeRequest, remoteAddress: string, passThrough: boolean) {
  const { pathname: path, search } = new URL(request.url, 'ws://runner')
  if (!passThrough) return { websocket: { path, remoteAddress } }
  const query = plainQuery(search)
  const websocket = { path, remoteAddress, headers: plainHeaders(request), ...(query && { query }) }
  return { passThrough, websocket }
}

/** What a bot is told of a call: above its parameters the numbers, and above all what its own starter gave. */
function startOfCall(session: Session, caller: CarrierCall | EvalCaller) {
  if (caller.transport === 'eval') return { transport: caller.transport }
  const { transport, ...call } = caller
  const { from, to, custom } = call
  const body = { ...custom, ...(from && { from }), ...(to && { to }), ...session.body }
  return { transport, call, body }
}
