import type { BotStart, LinkStream, MediaCounters, SessionOutcome, TurnLatency } from '@botcli/protocol'
import type { GuestOver } from './guest-channel.ts'
import type { GuestRequests } from './guest-requests.ts'

/** What a session tells its host. */
export interface MediaSessionEvents {
  connected(): void
  disconnected(): void
  /** Something made the session pointless; whoever owns it decides and calls `close`. Called at most once. */
  over(reason: GuestOver): void
}

/** What went over the wire so far, and how fast the bot answered. */
export interface MediaReport {
  readonly counters: MediaCounters
  readonly latency: readonly TurnLatency[]
}

/** The last report of a session. */
export interface MediaEnd extends MediaReport {
  /** What went wrong with the bot after it was asked to finish. */
  readonly lateFault?: GuestOver
}

/** One caller with one bot, whoever of us and the bot speaks the caller's wire. */
export interface HostedSession {
  /** What the bot answers by itself. */
  readonly requests: GuestRequests
  /** Gives the session its bot, and starts it. */
  join(link: LinkStream, start: BotStart): void
  /** Once a second: looks after the guest. */
  beat(): void
  report(): MediaReport
  /** Tells the caller, closes the wire, and gives the bot until the deadline to finish. */
  close(outcome: SessionOutcome, deadlineMs: number): Promise<MediaEnd>
}
