import type { SessionTransport } from './transports.ts'

/** The life of a session, in order. */
export type SessionState = 'waiting' | 'connecting' | 'active' | 'ending' | 'ended'

/** Every reason for which a session can be over, and whether that is a failure. */
export const END_CAUSES = {
  bot_returned: 'ok',
  client_left: 'ok',
  client_lost: 'ok',
  stopped: 'ok',
  shutdown: 'ok',
  time_limit: 'ok',
  never_connected: 'failed',
  bot_failed: 'failed',
  bot_exited: 'failed',
  bot_unresponsive: 'failed',
  bot_flooded: 'failed',
  bot_out_of_memory: 'failed',
  media_failed: 'failed',
} as const satisfies Record<string, 'ok' | 'failed'>
export type EndCause = keyof typeof END_CAUSES

/** How a session ended: the cause in one word, and in a sentence. */
export interface SessionOutcome {
  readonly result: 'ok' | 'failed'
  readonly cause: EndCause
  readonly message: string
}

/** Makes an outcome whose result always fits its cause. */
export function outcomeOf(cause: EndCause, message: string): SessionOutcome {
  return { result: END_CAUSES[cause], cause, message }
}

/** Ends that a client brought about or was waiting for; every other one has to be explained to it. */
const EXPECTED_CAUSES: readonly EndCause[] = ['bot_returned', 'client_left', 'client_lost']

/** Whether a client is to be told why its session is over. */
export function needsWords(cause: EndCause): boolean {
  return !EXPECTED_CAUSES.includes(cause)
}

/** The three parts of one answer's delay, measured where each happens. */
export interface TurnLatency {
  readonly turn: number
  readonly wireInMs: number
  readonly botMs: number
  readonly wireOutMs: number
}

/** What went over a session's wire. */
export interface MediaCounters {
  readonly audioInMs: number
  readonly audioOutMs: number
  /** Caller's sound that the bot was too slow to hear. */
  readonly audioInDroppedMs: number
  /** Caller's sound that the network lost and we filled in. */
  readonly audioInConcealedMs: number
  readonly messagesIn: number
  readonly messagesOut: number
  /** Messages of the caller that made no sense and were left out. */
  readonly badMessages: number
  /** Messages of the caller that were left out because the bot did not take them. */
  readonly messagesInDropped: number
  /** Messages of the bot that were left out because the client did not take them. */
  readonly messagesOutDropped: number
}

/** One session in `GET /sessions` and `GET /sessions/{sessionId}`. Times are ISO 8601. */
export interface SessionView {
  readonly sessionId: string
  /** Missing while a caller at `/ws` has not shown yet which carrier it is. */
  readonly transport?: SessionTransport
  readonly state: SessionState
  readonly createdAt: string
  readonly connectedAt?: string
  readonly endedAt?: string
  readonly outcome?: SessionOutcome
  readonly counters?: MediaCounters
  readonly latency?: readonly TurnLatency[]
}
