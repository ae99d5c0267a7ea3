import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { BotStart, CarrierId, IceCandidate, SessionOutcome, TransportId } from '@botcli/protocol'
import type { CarrierCodecName } from '../carriers/coding.ts'
import type { GuestOver } from '../session/guest-channel.ts'
import type { MediaReport } from '../session/media-session.ts'
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

/** Holds the wires of many sessions. Everything that waits rejects with a `MediaError`. */
export interface MediaHost {
  /** How many sessions it holds. */
  readonly load: number
  /** Answers a caller's offer and keeps the wire. An offer that cannot be used leaves nothing behind. */
  openWebrtc(sessionId: string, offer: string, events: HostedSessionEvents): Promise<PeerAnswer>
  /** Completes a WebSocket upgrade and keeps the wire. The socket is the host's from here on. */
  openWebsocket(
    sessionId: string,
    request: UpgradeRequest,
    socket: Socket,
    events: HostedSessionEvents,
  ): Promise<void>
  /**
   * Completes a carrier's WebSocket upgrade, finds out which carrier it is, and keeps the wire. What is not among
   * `served` is told so on the socket, which is the host's from here on. A `close` ends the wait, too.
   */
  openCarrier(
    sessionId: string,
    request: UpgradeRequest,
    socket: Socket,
    served: readonly TransportId[],
    events: HostedSessionEvents,
  ): Promise<CarrierCall>
  /** Makes a session whose bot meets its callers elsewhere, on its own: it has a guest to look after, and no wire. */
  openRoom(sessionId: string, events: HostedSessionEvents): Promise<void>
  /** Gives a session its guest, by the stream that leads to it, and starts the bot. */
  join(sessionId: string, link: Duplex, start: BotStart): Promise<void>
  /** Answers a later offer of the same caller. */
  negotiate(sessionId: string, offer: string, restart: boolean): Promise<PeerAnswer>
  addCandidates(sessionId: string, candidates: readonly IceCandidate[]): void
  /**
   * Tells the caller why, closes the wire, and gives the bot until the deadline. Gives the last report, for a phone
   * call after its last word was played.
   */
  close(sessionId: string, outcome: SessionOutcome, deadlineMs: number): Promise<MediaReport | undefined>
}
