import type { IncomingMessage } from 'node:http'
import { RequestError } from '../request-error.ts'

const MAX_BODY_BYTES = 1024 * 1024
/** So much more is read and thrown away, so that the client gets to see why it was refused. */
const MAX_DISCARDED_BYTES = 16 * 1024 * 1024

/** Reads a request's body as it came, unless it is longer than it may be. */
export async function readBytes(
  incoming: IncomingMessage,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of incoming as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else if (size > MAX_DISCARDED_BYTES) break
    }
  } catch (cause) {
    // The client broke off; nobody is going to read this.
    throw new RequestError('invalid_request', 'The request body ended too early.', { cause })
  }
  if (size > maxBytes) {
    throw new RequestError('body_too_large', `The request body is larger than ${maxBytes} bytes.`)
  }
  return Buffer.concat(chunks)
}
