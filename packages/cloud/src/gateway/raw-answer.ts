import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ErrorAnswer } from '../api/error-answer.ts'
import { CORS_HEADERS } from './cors.ts'

/** A caller that was refused gets this long to see it. */
const LAST_ANSWER_MS = 2000

/** An error as the bytes of an answer, for a socket that no HTTP library serves any more. */
export function rawAnswerOf({ status, headers, body }: ErrorAnswer): Buffer {
  const text = JSON.stringify(body)
  const all = {
    ...CORS_HEADERS,
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${text}`)
}

/** Answers, and closes the socket even if the other side does not, or goes on sending. */
export function endWith(socket: Socket, answer: Buffer | string): void {
  // A caller that breaks off is no news; without a listener it would end the process.
  socket.on('error', () => {})
  const limit = setTimeout(() => socket.destroy(), LAST_ANSWER_MS)
  socket.once('close', () => clearTimeout(limit))
  socket.resume()
  socket.once('end', () => socket.destroySoon())
  socket.end(answer)
}
