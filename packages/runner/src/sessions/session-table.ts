import { randomUUID } from 'node:crypto'
import type { EndCause, SessionView, TransportId } from '@botcli/protocol'
import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'
import { Session } from './session.ts'

/** How many sessions are remembered after their end. */
const ENDED_KEPT = 200
/** A caller that reconnects gets a new peer connection each time; older ids than these are forgotten. */
const PEERS_PER_SESSION = 10

/** What a table is made of. */
export interface SessionTableOptions {
  readonly maxSessions: number
  readonly maxDurationMs: number
  readonly logger: Logger
  /** What to do about a bot that needs more memory, in a sentence. */
  readonly memoryHint?: string
  readonly onEnded?: (sessionId: string) => void
  /** Hears of each session when it begins, connects, and is over. */
  readonly onChange?: (session: SessionView) => void
}

/** All sessions: the ones that run, and the outcomes of the last ones. */
export class SessionTable {
  readonly #options: SessionTableOptions
  readonly #live = new Map<string, Session>()
  readonly #ended = new Map<string, SessionView>()
  /** Peer connections by the id that their clients know. */
  readonly #peers = new Map<string, Session>()
  #accepting = true

  constructor(options: SessionTableOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#live.size
  }

  /** Whether there is room for another session; throws the reason why not. */
  checkRoom(): void {
    if (!this.#accepting) throw new RequestError('shutting_down', 'The runner is shutting down.')
    const { maxSessions } = this.#options
    if (this.#live.size >= maxSessions) {
      const taken = maxSessions === 1 ? 'The only session is' : `All ${maxSessions} sessions are`
      const message = `${taken} taken. Try again later, or raise --max-sessions.`
      throw new RequestError('too_many_sessions', message)
    }
  }

  /** A new session, with an id of ours unless somebody else gives it one. */
  create(
    transport: TransportId | undefined,
    body: Readonly<Record<string, unknown>> = {},
    id: string = randomUUID(),
  ): Session {
    if (this.#live.has(id) || this.#ended.has(id)) {
      throw new RequestError('session_busy', `There is a session ${id} already.`)
    }
    this.checkRoom()
    const { memoryHint } = this.#options
    const session = new Session({
      id,
      transport,
      body,
      maxDurationMs: this.#options.maxDurationMs,
      logger: this.#options.logger.child({ sessionId: id }),
      ...(memoryHint !== undefined && { memoryHint }),
      onConnected: (connected) => this.#options.onChange?.(connected.view()),
      onEnded: (ended) => this.#onEnded(ended),
    })
    this.#live.set(id, session)
    this.#options.onChange?.(session.view())
    return session
  }

  /** Forgets a session that never was more than an attempt. */
  discard(session: Session, why: string): void {
    session.abandon(why).then(() => {
      this.#ended.delete(session.id)
    })
  }

  /** A session that is not over. */
  live(id: string): Session {
    const session = this.#live.get(id)
    if (session !== undefined) return session
    const known = this.#ended.has(id) ? 'is over' : 'is not known'
    throw new RequestError('session_not_found', `The session ${JSON.stringify(id)} ${known}.`)
  }

  view(id: string): SessionView {
    return this.#ended.get(id) ?? this.live(id).view()
  }

  /** Those that are not over. */
  liveViews(): readonly SessionView[] {
    return [...this.#live.values()].map((session) => session.view())
  }

  /** The newest first. */
  views(): readonly SessionView[] {
    return [...this.#ended.values(), ...this.liveViews()].reverse()
  }

  rememberPeer(pcId: string, session: Session): void {
    this.#peers.set(pcId, session)
    const ids = [...this.#peers].filter(([, owner]) => owner === session).map(([id]) => id)
    for (const id of ids.slice(0, -PEERS_PER_SESSION)) this.#peers.delete(id)
  }

  byPeer(pcId: string): Session {
    const session = this.#peers.get(pcId)
    if (session !== undefined) return session
    throw new RequestError('peer_not_found', 'This peer connection is not known, or its session is over.')
  }

  /** Ends every session, and lets no new one in. */
  async close(cause: EndCause, message: string, deadlineMs: number): Promise<void> {
    this.#accepting = false
    await Promise.all([...this.#live.values()].map((session) => session.end(cause, message, deadlineMs)))
  }

  #onEnded(session: Session): void {
    this.#live.delete(session.id)
    for (const [pcId, owner] of this.#peers) if (owner === session) this.#peers.delete(pcId)
    const view = session.view()
    this.#ended.set(session.id, view)
    const oldest = this.#ended.keys().next().value
    if (this.#ended.size > ENDED_KEPT && oldest !== undefined) this.#ended.delete(oldest)
    this.#options.onEnded?.(session.id)
    this.#options.onChange?.(view)
  }
}
