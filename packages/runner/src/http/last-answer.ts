import type { Socket } from 'node:net'

/** A caller that was refused gets this long to see it. */
const LAST_ANSWER_MS = 2000

/** Answers on a socket that no HTTP library serves any more, and closes it even if the other side does not, or goes on sending. */
export function endWith(socket: Socket, answer: string): void {
  // A caller that breaks off is no news; without a listener it would end the process.
  socket.on('error', () => {})
  const limit = setTimeout(() => socket.destroy(), LAST_ANSWER_MS)
  socket.once('close', () => clearTimeout(limit))
  socket.resume()
  socket.once('end', () => socket.destroySoon())
  socket.end(answer)
}
