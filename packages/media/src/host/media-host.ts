import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { BotStart, IceCandidate, SessionOutcome } from '@botcli/protocol'
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
  /** Gives a session its guest, by the stream that leads to it, and starts the bot. */
  join(sessionId: string, link: Duplex, start: BotStart): Promise<void>
  /** Answers a later offer of the same caller. */
  negotiate(sessionId: string, offer: string, restart: boolean): Promise<PeerAnswer>
  addCandidates(sessionId: string, candidates: readonly IceCandidate[]): void
  /** Tells the caller why, closes the wire, and gives the bot until the deadline. Gives the last report. */
  close(sessionId: string, outcome: SessionOutcome, deadlineMs: number): Promise<MediaReport | undefined>
}
