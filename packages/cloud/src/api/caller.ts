import type { Socket } from 'node:net'
import type { StartCaller } from '../sessions/start-service.ts'

/** What of a request tells who sent it. */
export interface CallerRequest {
  readonly headers: NodeJS.Dict<string | string[]>
  readonly socket: Pick<Socket, 'remoteAddress' | 'once' | 'destroyed'>
}

/** How a caller of the public API reached us. Instances judge its origin themselves. */
export function callerOf(
  { headers, socket }: CallerRequest,
  originOf: (headers: CallerRequest['headers']) => string,
): StartCaller {
  const forwarded = headers['x-forwarded-for']
  const before = Array.isArray(forwarded) ? forwarded.join(', ') : forwarded
  const from = [before, socket.remoteAddress].filter((part) => part !== undefined && part !== '')
  return {
    gone: goneOf(socket),
    origin: originOf(headers),
    headers: {
      ...(typeof headers.origin === 'string' && { origin: headers.origin }),
      ...(from.length > 0 && { 'x-forwarded-for': from.join(', ') }),
    },
  }
}

/** Connections carry many requests, so that one listener a connection has to do for all of them. */
const closings = new WeakMap<object, AbortSignal>()

function goneOf(socket: CallerRequest['socket']): AbortSignal {
  const known = closings.get(socket)
  if (known) return known
  const gone = new AbortController()
  if (socket.destroyed) gone.abort()
  else socket.once('close', () => gone.abort())
  closings.set(socket, gone.signal)
  return gone.signal
}
