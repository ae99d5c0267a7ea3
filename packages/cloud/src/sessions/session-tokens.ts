import { createHmac, timingSafeEqual } from 'node:crypto'

/** Tokens that open one session each. They are made of a key and the session's id, so that they hold beyond a restart and are stored nowhere. */
export class SessionTokens {
  readonly #key: Uint8Array

  constructor(key: Uint8Array) {
    this.#key = key
  }

  /** The token of a session. */
  tokenOf(sessionId: string): string {
    return createHmac('sha256', this.#key).update(sessionId).digest('base64url')
  }

  /** Whether this is the token of that session. */
  isTokenOf(sessionId: string, token: string): boolean {
    const expected = Buffer.from(this.tokenOf(sessionId))
    const given = Buffer.from(token)
    return expected.length === given.length && timingSafeEqual(expected, given)
  }
}
