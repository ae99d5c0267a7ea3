import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type {
  BotRequest,
  BotResponse,
  BotStart,
  CarrierId,
  IceCandidate,
  SessionOutcome,
  TransportId,
} from '@botcli/protocol'
import type { CarrierCodecName } from '../carriers/coding.ts'
import type { GuestOver } from '../session/guest-channel.ts'
import type { MediaEnd, MediaReport } from '../session/hosted-session.ts'
import type { UpgradeRequest } from '../websocket/upgrade.ts'

/** What a host tells about one of its sessions. */
export interface HostedSessionEvents {
  connected(): void
  disconnected(): void
  /** The session has become pointless; the answer to it is `close`. Called at most once. */
  over(reason: GuestOver): void
  /** About once a second. */
  report(report: MediaReport): void
}

/** Our half of a peer connection's handshake. */
export interface PeerAnswer {
  readonly sdp: string
  readonly pcId: string
}

/** A phone call whose carrier was recognised. */
export interface CarrierCall {
  readonly transport: CarrierId
  /** The carrier's own id of the call, by which its API can hang up. */
  readonly callId: string
  readonly streamId: string
  readonly from?: string
  readonly to?: string
  /** What the user of the carrier gave to be handed on. */
  readonly custom: Readonly<Record<string, string>>
  /** How the caller's sound is coded. */
  readonly codec: CarrierCodecName
  readonly rate: number
}

/** The eval harness, whose words are for the bot alone. */
export interface EvalCaller {
  readonly transport: 'eval'
}

/** Who may come in where phone calls arrive, and how. */
export interface CallDoor {
  /** The carriers whose calls are taken. */
  readonly served: readonly TransportId[]
  /** Why no other carrier is served, where that is not a matter of the carrier. */
  readonly whyOnly?: string
  /** Whether evals are let in. They are always passed through. */
  readonly evals: boolean
  /** Whether the bot speaks the carrier's wire itself. */
  readonly passThrough: boolean
}

/** Holds the wires of many sessions. Everything that waits rejects with a `MediaError`. */
export interface MediaHost {
  /** How many sessions it holds. */
  readonly load: number
  /** Answers a caller's offer and keeps the wire. An offer that cannot be used leaves nothing behind. */
  openWebrtc(sessionId: string, offer: string, events: HostedSessionEvents): Promise<PeerAnswer>
  /**
   * Makes a session whose bot answers its caller's offers itself, unless the first offer is plainly of no use to anybody. The first
   * answer is that to the first `negotiate`, which may come before the bot.
   */
  openPeerRelay(sessionId: string, offer: string, events: HostedSessionEvents): Promise<void>
  /**
   * Completes a WebSocket upgrade and keeps the wire, or the socket alone for a bot that speaks the wire itself. The socket is the
   * host's from here on.
   */
  openWebsocket(
    sessionId: string,
    request: UpgradeRequest,
    socket: Socket,
    passThrough: boolean,
    events: HostedSessionEvents,
  ): Promise<void>
  /**
   * Completes the WebSocket upgrade of a carrier or an eval, finds out who it is, and keeps the wire. Who may not come in is told so on
   * the socket, which is the host's from here on. A `close` ends the wait, too.
   */
  openCarrier(
    sessionId: string,
    request: UpgradeRequest,
    socket: Socket,
    door: CallDoor,
    events: HostedSessionEvents,
  ): Promise<CarrierCall | EvalCaller>
  /** Makes a session whose bot meets its callers elsewhere, on its own: it has a guest to look after, and no wire. */
  openRoom(sessionId: string, events: HostedSessionEvents): Promise<void>
  /** Gives a session its guest, by the stream that leads to it, and starts the bot. */
  join(sessionId: string, link: Duplex, start: BotStart): Promise<void>
  /** Answers a later offer of the same caller, or any offer of one whose bot answers itself. */
  negotiate(sessionId: string, offer: string, restart: boolean): Promise<PeerAnswer>
  addCandidates(sessionId: string, candidates: readonly IceCandidate[]): void
  /** Lets the session's bot answer a request. */
  request(sessionId: string, request: BotRequest): Promise<BotResponse>
  /**
   * Tells the caller why, closes the wire, and gives the bot until the deadline. Gives the last report once the caller has got
   * the last word, or cannot get it any more.
   */
  close(sessionId: string, outcome: SessionOutcome, deadlineMs: number): Promise<MediaEnd | undefined>
}
