import { isCarrier, type SessionView } from '@botcli/protocol'
import { CLOUD_END_CAUSES, type CloudEndCause } from '@botcli/protocol/cloud'
import type { HostedInstance } from '../agents/hosted-instance.ts'
import type { SessionPlace, SessionPlaces, WebsocketPlace } from '../gateway/session-places.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { StoredSession } from '../store/sessions.ts'
import type { Store } from '../store/store.ts'
import type { SessionTokens } from './session-tokens.ts'

const CAUSES = Object.keys(CLOUD_END_CAUSES) as readonly CloudEndCause[]
const MAX_MESSAGE = 2000

/** A session that is not over. */
interface LiveSession {
  readonly stored: StoredSession
  readonly instance: HostedInstance
  tokenUsed: boolean
  /** How it ended, if that could not be written down. */
  unwritten?: { readonly cause: CloudEndCause; readonly message: string }
}

/** What knows the sessions needs. */
export interface LiveSessionsOptions {
  readonly store: Store
  readonly tokens: SessionTokens
  readonly log: CloudLog
  readonly clock: Clock
  /** A session is over, and its log complete. */
  readonly onEnded: (agentId: string) => void
}

/** All sessions that are not over: where each of them runs, and how they end. Admission bounds their number. */
export class LiveSessions implements SessionPlaces {
  readonly #options: LiveSessionsOptions
  readonly #sessions = new Map<string, LiveSession>()
  /** Those that are over, and whose last words are on their way to the log. */
  readonly #closing = new Set<string>()

  constructor(options: LiveSessionsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#sessions.size
  }

  /** A session has a place at an instance, which is given back when it is over. */
  add(stored: StoredSession, instance: HostedInstance): void {
    this.#sessions.set(stored.id, { stored, instance, tokenUsed: stored.tokenUsed })
  }

  /** Whether a session is not over, or its end not written down. */
  has(sessionId: string): boolean {
    return this.#sessions.has(sessionId)
  }

  /** Whether a session is not over, and began before a time. */
  isOlder(sessionId: string, than: number): boolean {
    return (this.#sessions.get(sessionId)?.stored.createdAt ?? than) < than
  }

  find(organizationId: string, agentName: string, sessionId: string): SessionPlace | undefined {
    const found = this.#of(agentName, sessionId)
    if (found?.stored.organizationId !== organizationId) return undefined
    return { sessionId, socketPath: found.instance.socketPath }
  }

  redeem(agentName: string, sessionId: string, token: string): WebsocketPlace | undefined {
    const found = this.#of(agentName, sessionId)
    if (!found || !this.#options.tokens.isTokenOf(sessionId, token) || found.tokenUsed) return undefined
    this.#useToken(found, true)
    const path = isCarrier(found.stored.transport)
      ? `/sessions/${sessionId}/ws`
      : `/ws-client?sessionId=${sessionId}`
    return { sessionId, socketPath: found.instance.socketPath, path }
  }

  refund(sessionId: string, token: string): void {
    const found = this.#sessions.get(sessionId)
    if (found && this.#options.tokens.isTokenOf(sessionId, token)) this.#useToken(found, false)
  }

  /** The caller of a session that was found again is not there: whoever used its token went down with the cloud. */
  reopen(sessionId: string): void {
    const found = this.#sessions.get(sessionId)
    if (found?.tokenUsed) this.#useToken(found, false)
  }

  /** Whether a session is over, though its log may not be complete. */
  isClosing(sessionId: string): boolean {
    return this.#closing.has(sessionId)
  }

  /**
   * An instance tells how one of its sessions is. It may tell the same twice. Bots can write into its journal, and it may be of another
   * version: so it is believed in nothing but its own sessions, and only in what can be.
   */
  async note(instanceId: string, view: SessionView): Promise<void> {
    const { sessionId, state, connectedAt, endedAt, outcome } = view
    const live = this.#sessions.get(sessionId)
    if (live?.instance.id !== instanceId) return
    const timeOf = (text: string | undefined): number => this.#timeOf(text, live.stored.createdAt)
    if (connectedAt !== undefined)
      await this.#options.store.sessions.connected(sessionId, timeOf(connectedAt))
    if (state !== 'ended') return
    const { cause, message } = endOf(outcome)
    await this.#end(sessionId, cause, message, timeOf(endedAt))
  }

  /** Whether a start was answered, so that the session had begun. */
  hasBegun(sessionId: string): boolean {
    return this.#sessions.get(sessionId)?.stored.startMs != null
  }

  /** A session is over without its instance saying so. */
  async end(sessionId: string, cause: CloudEndCause, message: string): Promise<void> {
    try {
      await this.#end(sessionId, cause, message, this.#options.clock())
    } catch (error) {
      const live = this.#sessions.get(sessionId)
      if (live) live.unwritten = { cause, message }
      throw error
    }
  }

  /** Ends those of some sessions whose end could not be written down before. */
  async endAgain(sessionIds: readonly string[]): Promise<void> {
    for (const id of sessionIds) {
      const end = this.#sessions.get(id)?.unwritten
      if (end) await this.end(id, end.cause, end.message)
    }
  }

  async #end(sessionId: string, cause: CloudEndCause, message: string, at: number): Promise<void> {
    const { store, log, onEnded } = this.#options
    const outcome = { result: CLOUD_END_CAUSES[cause], cause, message }
    const live = this.#sessions.get(sessionId)
    if (live) this.#closing.add(sessionId)
    const isNew = await store.sessions.end(sessionId, outcome, at).catch((error: unknown) => {
      this.#closing.delete(sessionId)
      throw error
    })
    if (!live || !this.#sessions.delete(sessionId)) return
    live.instance.release(sessionId)
    if (isNew) log.info('a session is over', { sessionId, agent: live.stored.agentName, cause })
    // Not waited for: this may be called by the one who brings the words to the log.
    void live.instance
      .logged()
      .catch(() => {})
      .then(() => {
        this.#closing.delete(sessionId)
        onEnded(live.stored.agentId)
      })
  }

  /** A time between the beginning of a session and now. */
  #timeOf(text: string | undefined, earliest: number): number {
    const now = this.#options.clock()
    const time = text === undefined ? now : Date.parse(text)
    return Number.isNaN(time) ? now : Math.min(Math.max(time, earliest), now)
  }

  #of(agentName: string, sessionId: string): LiveSession | undefined {
    const found = this.#sessions.get(sessionId)
    return found?.stored.agentName === agentName ? found : undefined
  }

  #useToken(session: LiveSession, used: boolean): void {
    session.tokenUsed = used
    const { store, log } = this.#options
    // The instance lets nobody else in either; this only holds beyond a restart.
    store.sessions.tokenUsed(session.stored.id, used).catch((error: unknown) => {
      log.warn('the use of a token was not noted', { sessionId: session.stored.id, error })
    })
  }
}

/** A cause that we do not know is told in words. */
function endOf(outcome: SessionView['outcome']): { readonly cause: CloudEndCause; readonly message: string } {
  if (!outcome) return { cause: 'bot_exited', message: 'Nobody said why.' }
  const cause = CAUSES.find((known) => known === outcome.cause)
  const message = outcome.message.slice(0, MAX_MESSAGE)
  return cause ? { cause, message } : { cause: 'bot_exited', message: `${outcome.cause}: ${message}` }
}
