import type { IncomingMessage } from 'node:http'
import { Excerpt } from '../log/excerpt.ts'
import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'

const MAX_BODY_BYTES = 1024 * 1024
/** So much more is read and thrown away, so that the client gets to see why it was refused. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024
const MAX_LOGGED_CHARACTERS = 5000

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: ValidationError }
}

interface ValidationError {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[]
}

/** Reads and validates a JSON body. An empty one counts as `{}`. */
export async function readJson<T>(
  incoming: IncomingMessage,
  path: string,
  schema: Schema<T>,
  logger: Logger,
): Promise<T> {
  const raw = await readText(incoming)
  const refuse = (problems: readonly string[]): RequestError => {
    const body = new Excerpt(raw, MAX_LOGGED_CHARACTERS)
    logger.warn('a request body is not valid', { path, problems, body })
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

async function readText(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size <= MAX_BODY_BYTES) chunks.push(chunk)
      else if (size > MAX_DISCARDED_BYTES) break
    }
  } catch (cause) {
    // The client broke off; nobody is going to read this.
    throw new RequestError('invalid_request', 'The request body ended too early.', { cause })
  }
  if (size > MAX_BODY_BYTES) {
    throw new RequestError('body_too_large', `The request body is larger than ${MAX_BODY_BYTES} bytes.`)
  }
  return Buffer.concat(chunks).toString('utf8')
}
