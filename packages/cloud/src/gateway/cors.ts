import type { IncomingMessage, ServerResponse } from 'node:http'

/** Any page may use the public API: what opens it is a key, not where the page is from. */
export const CORS_HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Retry-After',
} as const

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'
/** The longest that browsers agree on. */
const MAX_AGE_SECONDS = 7200
const NAMES = /^[!#$%&'*+.^_`|~\w, -]{1,4000}$/

/** Whether a browser asks what it may do. It shows no key then, and cannot. */
export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return (
    method === 'OPTIONS' &&
    headers.origin !== undefined &&
    headers['access-control-request-method'] !== undefined
  )
}

/** Tells a browser that it may ask for anything. */
export function answerPreflight({ headers }: IncomingMessage, outgoing: ServerResponse): void {
  const names = headers['access-control-request-headers']
  outgoing.writeHead(204, {
    ...CORS_HEADERS,
    'Access-Control-Allow-Methods': METHODS,
    // Authorization has to be named: a star does not mean it.
    'Access-Control-Allow-Headers': names !== undefined && NAMES.test(names) ? names : 'Authorization, *',
    'Access-Control-Max-Age': MAX_AGE_SECONDS,
    ...(headers['access-control-request-private-network'] === 'true' && {
      'Access-Control-Allow-Private-Network': 'true',
    }),
  })
  outgoing.end()
}
