import type { IncomingMessage } from 'node:http'
import { CORS_HEADERS } from './cors.ts'

/** How a caller has reached the cloud: what an instance has to know to tell them addresses. */
export interface Reached {
  /** As the caller sees it; it may have a path. */
  readonly origin: string
  readonly agentName: string
}

/** They speak of one connection, not of what is asked. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
/**
 * The key is ours to judge and nobody else's to see, and cookies are of all that is served at the same address. The rest is told anew, or is
 * the framing of the body.
 */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'authorization',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-prefix',
  'x-forwarded-proto',
])
/** An instance speaks for its session, not for everything that the cloud serves at the same address. */
const OF_THE_ADDRESS: ReadonlySet<string> = new Set([
  'alt-svc',
  'authorization',
  'clear-site-data',
  'nel',
  'report-to',
  'reporting-endpoints',
  'set-cookie',
  'strict-transport-security',
])
const NOT_RETURNED: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...OF_THE_ADDRESS])
/** What nearly every `Connection` header says; it names no other header. */
const PLAIN_CONNECTION: ReadonlySet<string | undefined> = new Set([undefined, 'keep-alive', 'close'])
const PREFIX = /^\/[\w\-./~]{0,200}$/

/** What of a caller's headers an instance gets, with how it was reached, and without the framing of a body. */
export function forwardedHeaders(incoming: IncomingMessage, reached: Reached): string[] {
  const { headers, socket } = incoming
  const kept = withoutNames(incoming.rawHeaders, namesOf(NOT_FORWARDED, headers.connection))
  const { protocol, host, pathname } = new URL(reached.origin)
  const outer = pathname === '/' ? prefixOf(headers['x-forwarded-prefix']) : pathname.replace(/\/+$/, '')
  const before = headers['x-forwarded-for']
  const caller = socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? 'unknown'
  kept.push('Host', host, 'X-Forwarded-Proto', protocol.slice(0, -1), 'X-Forwarded-Host', host)
  kept.push('X-Forwarded-Prefix', `${outer}/v1/public/${reached.agentName}`)
  kept.push('X-Forwarded-For', before === undefined ? caller : `${before}, ${caller}`)
  return kept
}

/** What of an instance's headers a caller gets. What it says of other origins stays; the rest is as everywhere in the public API. */
export function returnedHeaders({ rawHeaders, headers }: IncomingMessage): string[] {
  const kept = withoutNames(rawHeaders, namesOf(NOT_RETURNED, headers.connection))
  for (const [name, value] of Object.entries(CORS_HEADERS)) {
    if (headers[name.toLowerCase()] === undefined) kept.push(name, value)
  }
  return kept
}

/** Whether a header of an instance says something of the whole address at which it is served. */
export function isOfTheAddress(name: string): boolean {
  return OF_THE_ADDRESS.has(name.toLowerCase())
}

/** Those names, and what the sender has declared to be of this connection only. */
function namesOf(names: ReadonlySet<string>, connection: string | undefined): ReadonlySet<string> {
  if (PLAIN_CONNECTION.has(connection)) return names
  const more = connection?.toLowerCase().split(',') ?? []
  const all = new Set(names)
  // To drop the length of a body would let two readers see two ends of it.
  for (const name of more) if (name.trim() !== 'content-length') all.add(name.trim())
  return all
}

/** Names and values in turn, as Node writes and reads them. */
function withoutNames(raw: readonly string[], names: ReadonlySet<string>): string[] {
  const kept: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    if (!names.has(name.toLowerCase())) kept.push(name, raw[index + 1] ?? '')
  }
  return kept
}

/** Each proxy adds a value; the first one is nearest to the caller. */
function prefixOf(header: string | string[] | undefined): string {
  const text = (Array.isArray(header) ? header[0] : header)?.split(',')[0]?.trim() ?? ''
  return PREFIX.test(text) ? text.replace(/\/+$/, '') : ''
}
