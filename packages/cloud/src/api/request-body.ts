import type { IncomingMessage } from 'node:http'
import { CloudError } from '../errors.ts'

/** The largest body of a route that does not say otherwise. */
export const MAX_BODY_BYTES = 1024 * 1024
/** So much more is read and thrown away, so that the client gets to see why it was refused. */
const MAX_DISCARDED_BYTES = 64 * 1024 * 1024
/** A client gets this long to send a body. */
const BODY_LIMIT_MS = 30_000

/** Reads a JSON body. One that may be empty counts as an empty object then. */
export async function readJson(
  incoming: IncomingMessage,
  { maxBytes = MAX_BODY_BYTES, limitMs = BODY_LIMIT_MS, mayBeEmpty = false } = {},
): Promise<unknown> {
  const bytes = await readBytes(incoming, maxBytes, limitMs)
  if (bytes.length === 0 && mayBeEmpty) return {}
  if (bytes.length === 0) throw invalid('it is empty')
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    const why = error instanceof SyntaxError ? `it is not JSON (${syntaxProblem(error)})` : 'it is not UTF-8'
    throw invalid(why)
  }
}

async function readBytes(incoming: IncomingMessage, maxBytes: number, limitMs: number): Promise<Buffer> {
  // To destroy it would take away the way to answer.
  const arriving = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>
  const chunks: Buffer[] = []
  let size = 0
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(invalid(`it did not arrive within ${limitMs / 1000} s`)), limitMs)
  })
  try {
    while (size <= maxBytes + MAX_DISCARDED_BYTES) {
      const { value, done } = await Promise.race([arriving.next(), late])
      if (done) break
      size += value.length
      if (size <= maxBytes) chunks.push(value)
    }
  } catch (error) {
    // Nobody is going to read this when the client broke off.
    throw error instanceof CloudError ? error : invalid('it ended too early')
  } finally {
    clearTimeout(timer)
  }
  if (size <= maxBytes) return Buffer.concat(chunks)
  throw new CloudError('PAYLOAD_TOO_LARGE', `The request body is larger than ${maxBytes} bytes.`)
}

/** The engine's words without its excerpt of the body, which may hold a secret. */
function syntaxProblem(error: SyntaxError): string {
  return error.message
    .replace(/, (?:\.\.\.)?".* is not valid JSON$/s, '')
    .replace(/^(Unexpected token).*/s, '$1')
}

function invalid(why: string): CloudError {
  return new CloudError('INVALID_REQUEST', `The request body is not valid: ${why}.`)
}
