import type { MediaCounters, SessionOutcome } from '@botcli/protocol'
import type { GuestChannel, GuestFrame, GuestOver, GuestWord } from '../session/guest-channel.ts'
import type { MediaSessionEvents } from '../session/hosted-session.ts'

/** What only a relay can count. */
export type RelayCounters = Pick<MediaCounters, 'messagesIn' | 'messagesOut' | 'badMessages'>

/**
 * A caller whose wire the bot speaks itself: what comes is handed to and fro as it is. It tells its session like a session tells its
 * host, and nothing after `close`. Nothing here may throw because of what a caller or a bot sent.
 */
export interface Relay {
  readonly counters: RelayCounters
  /** Resolves when the caller has got the last word, or cannot get it any more; within seconds after `close`. */
  readonly finished: Promise<void>
  /** The bot has been started. What has come for it can go. Called once. */
  join(guest: GuestChannel): void
  /** What the bot says to its caller or about it. False when it has no meaning here. */
  word(word: GuestWord): boolean
  /** What the bot sends. Gives what is wrong with it, if anything. */
  frame(frame: GuestFrame): GuestOver | undefined
  /** Tells the caller why, then closes and frees everything. Safe to call twice. */
  close(outcome: SessionOutcome): void
}

/** Makes a relay that tells its session. */
export type CreateRelay<R extends Relay> = (events: MediaSessionEvents) => R
