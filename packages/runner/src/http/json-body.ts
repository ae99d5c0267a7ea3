import { Excerpt } from '../log/excerpt.ts'
import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'

const MAX_LOGGED_CHARACTERS = 5000

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: ValidationError }
}

interface ValidationError {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
}

/** Validates a JSON body. An empty one counts as `{}`. What is wrong with it is logged and thrown. */
export function parseJson<T>(body: Buffer, path: string, schema: Schema<T>, logger: Logger): T {
  const raw = body.toString('utf8')
  const refuse = (problems: readonly string[]): RequestError => {
    const excerpt = new Excerpt(raw, MAX_LOGGED_CHARACTERS)
    logger.warn('a request body is not valid', { path, problems, body: excerpt })
    return new RequestError('invalid_request', `The request body is not valid: ${problems.join('; ')}.`)
  }
  let value: unknown
  try {
    value = raw === '' ? {} : JSON.parse(raw)
  } catch (error) {
    throw refuse([`it is not JSON (${syntaxProblem(error)})`])
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw refuse(parsed.error.issues.map(({ path: at, message }) => describe(at, message)))
}

/** The engine's words without its excerpt of the body, which is too short to be cleaned. */
function syntaxProblem(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/, (?:\.\.\.)?".* is not valid JSON$/s, '')
}

function describe(path: readonly PropertyKey[], message: string): string {
  return path.length === 0 ? message : `${path.map(String).join('.')}: ${message}`
}
