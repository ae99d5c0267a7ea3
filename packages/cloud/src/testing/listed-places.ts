import type { SessionPlace, SessionPlaces, WebsocketPlace } from '../gateway/session-places.ts'

/** A session that a test knows. */
export interface ListedSession extends SessionPlace {
  readonly organizationId: string
  readonly agentName: string
  /** Where its WebSocket is, at the instance. */
  readonly websocketPath?: string
}

/** A table of sessions, with tokens that open one once. */
export class ListedPlaces implements SessionPlaces {
  readonly refunded: string[] = []
  readonly #sessions: ListedSession[] = []
  readonly #tokens = new Map<string, string>()

  add(session: ListedSession, tokens: readonly string[] = []): void {
    this.#sessions.push(session)
    for (const token of tokens) this.#tokens.set(token, session.sessionId)
  }

  /** The session is over. */
  remove(sessionId: string): void {
    const index = this.#sessions.findIndex((one) => one.sessionId === sessionId)
    if (index >= 0) this.#sessions.splice(index, 1)
  }

  find(organizationId: string, agentName: string, sessionId: string): SessionPlace | undefined {
    const session = this.#session(agentName, sessionId)
    return session?.organizationId === organizationId ? session : undefined
  }

  redeem(agentName: string, sessionId: string, token: string): WebsocketPlace | undefined {
    const session = this.#session(agentName, sessionId)
    if (session === undefined || this.#tokens.get(token) !== sessionId) return undefined
    this.#tokens.delete(token)
    return { ...session, path: session.websocketPath ?? '/ws-client?token=inner' }
  }

  refund(sessionId: string, token: string): void {
    this.refunded.push(token)
    this.#tokens.set(token, sessionId)
  }

  #session(agentName: string, sessionId: string): ListedSession | undefined {
    return this.#sessions.find((one) => one.agentName === agentName && one.sessionId === sessionId)
  }
}
