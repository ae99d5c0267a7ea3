import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'

const MAX_LOGGED_CHARACTERS = 5000

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: ValidationError }
}

interface ValidationError {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
}

/** Parses the bytes of a webhook call, which had to be kept as they came for its signature. */
export function parseWebhook<T>(body: Buffer, path: string, schema: Schema<T>, logger: Logger): T {
  const raw = body.toString('utf8')
  const refuse = (problems: readonly string[]): RequestError => {
    logger.warn('a request body is not valid', { path, problems, body: raw.slice(0, MAX_LOGGED_CHARACTERS) })
    return new RequestError('invalid_request', `The request body is not valid: ${problems.join('; ')}.`)
  }
  const value = jsonOf(body)
  if (value === undefined) throw refuse(['it is not JSON'])
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw refuse(
    parsed.error.issues.map(({ path: at, message }) =>
      at.length === 0 ? message : `${at.map(String).join('.')}: ${message}`,
    ),
  )
}

/** The value of JSON bytes; undefined when they are none. */
export function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}
