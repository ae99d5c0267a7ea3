import type { Ending, Problem } from '../state/problem.ts'
import type { Way } from '../state/ways.ts'

/** What the start of a session said about it. */
export interface StartedSession {
  readonly sessionId: string
  /** Where a WebSocket goes; absent for WebRTC. */
  readonly wsUrl?: string
  readonly token?: string
  readonly iceServers: readonly RTCIceServer[]
}

/** What the page asks for when it starts a session. */
export interface StartOptions {
  readonly transport: 'webrtc' | 'websocket'
  readonly enableDefaultIceServers: boolean
}

/** Where the offers of a session go, and what has to be sent with them. */
export interface OfferPlace {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Where a bot is: at a runner on somebody's machine, or deployed in a cloud. The page talks with both in the same way. */
export interface BotHost {
  /** Who answers, at the beginning of a sentence. */
  readonly name: string
  /** Where the bot's own words can be read, at the beginning of a sentence. */
  readonly output: string
  /** Whom one talks with. */
  readonly bot: string
  /** After so long a bot that is not ready has failed. */
  readonly readyLimitMs: number
  /** The ways to the bot that are not this page. */
  readonly ways: readonly Way[]
  /** The transports that are offered. Rejects when this page will not be served. */
  transports(): Promise<readonly string[]>
  /** Begins a session. */
  start(options: StartOptions): Promise<StartedSession>
  offerPlace(sessionId: string): OfferPlace
  /** Words for an answer to an offer that is not a success. */
  refusal(answer: Response): Promise<Problem>
  /** Whether `ending` tells the cause, and not only that a session is over. */
  readonly knowsCauses: boolean
  /** How a session ended, or `undefined` while it has not, or when nobody can say. */
  ending(sessionId: string): Promise<Ending | undefined>
  /** A page about a session, if there is one. */
  sessionPage(sessionId: string): string | undefined
}
