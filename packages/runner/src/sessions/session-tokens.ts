import { randomBytes, timingSafeEqual } from 'node:crypto'

/** Tokens that open one session each. A token names its session, so a client needs to hand on nothing else. */
export class SessionTokens {
  readonly #secrets = new Map<string, string>()

  /** A new token for a session. */
  issue(sessionId: string): string {
    const secret = randomBytes(24).toString('base64url')
    this.#secrets.set(sessionId, secret)
    return `${sessionId}.${secret}`
  }

  /** The session that a token opens. */
  sessionOf(token: string): string | undefined {
    const dot = token.indexOf('.')
    const sessionId = token.slice(0, Math.max(0, dot))
    const expected = Buffer.from(this.#secrets.get(sessionId) ?? '')
    const given = Buffer.from(token.slice(dot + 1))
    const matches =
      expected.length > 0 && expected.length === given.length && timingSafeEqual(expected, given)
    return matches ? sessionId : undefined
  }

  /** The session is over, and its token with it. */
  forget(sessionId: string): void {
    this.#secrets.delete(sessionId)
  }
}
