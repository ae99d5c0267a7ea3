import { createHash, timingSafeEqual } from 'node:crypto'
import { RequestError } from '../request-error.ts'

/** A provider's webhook call, as far as its sender can be proven. */
export interface WebhookRequest {
  /** The public address as the provider called it, with its query. */
  readonly url: string
  readonly header: (name: string) => string | undefined
  /** As it came, byte by byte: signatures cover exactly this. */
  readonly body: Buffer
}

/** How far a provider's clock may be off, and how long a signed request can be repeated. */
export const CLOCK_TOLERANCE_MS = 5 * 60 * 1000

/** Compares without telling by its duration how much was right. */
export function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The answer to a sender who could not prove who it is. The message does not say what would have been right. */
export function notVerified(what: string): RequestError {
  return new RequestError('sender_not_verified', what)
}
