import type { StartCaller } from '../sessions/start-service.ts'

/** What of a request tells who sent it. */
export interface CallerRequest {
  readonly headers: NodeJS.Dict<string | string[]>
  readonly socket: { readonly remoteAddress?: string | undefined }
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
    origin: originOf(headers),
    headers: {
      ...(typeof headers.origin === 'string' && { origin: headers.origin }),
      ...(from.length > 0 && { 'x-forwarded-for': from.join(', ') }),
    },
  }
}
