/** Where a session runs. */
export interface SessionPlace {
  readonly sessionId: string
  /** The Unix socket of the instance that runs it. */
  readonly socketPath: string
}

/** Where a WebSocket of a session goes. */
export interface WebsocketPlace extends SessionPlace {
  /** The path at the instance, with a query if it needs one. */
  readonly path: string
}

/** What the gateway asks of who knows all sessions. */
export interface SessionPlaces {
  /** A session that is not over, of that agent and organization. */
  find(organizationId: string, agentName: string, sessionId: string): SessionPlace | undefined
  /**
   * Spends the token of a session: it opens its session once, so whoever comes second with it is refused. A place is given back with
   * `refund` when nothing of the caller has reached the instance.
   */
  redeem(agentName: string, sessionId: string, token: string): WebsocketPlace | undefined
  /** The caller could not be brought to the instance, and may try again. */
  refund(sessionId: string, token: string): void
}
