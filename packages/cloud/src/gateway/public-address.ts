import { CloudError } from '../errors.ts'

/** A request for a session, as its address has it. Nothing of it was checked yet. */
export interface ProxyAddress {
  readonly agentName: string
  readonly sessionId: string
  /** What comes behind the session. */
  readonly rest: string
  /** With its question mark; empty if there is none. */
  readonly query: string
}

/** A WebSocket of a session, as its address has it. Nothing of it was checked yet. */
export interface WebsocketAddress {
  readonly agentName: string
  readonly sessionId: string
  readonly token: string
  /** With its question mark; empty if there is none. */
  readonly query: string
}

// Proxies may ask with the whole address.
const ORIGIN = String.raw`^(?:https?:\/\/[^/?#]*)?`
const PUBLIC = new RegExp(`${ORIGIN}/v1/public(?:[/?#]|$)`)
const PROXY = new RegExp(String.raw`${ORIGIN}\/v1\/public\/([^/?#]+)\/sessions\/([^/?#]+)\/([^?]*)(\?.*)?$`)
const WEBSOCKET = new RegExp(
  String.raw`${ORIGIN}\/v1\/public\/([^/?#]+)\/sessions\/([^/?#]+)\/([\w-]{1,512})\/(?:ws|ws-client)(\?.*)?$`,
)
const VISIBLE = /^[!-~]*$/
/** Where a reader may think that the name of a part ends. */
const CUT = /[;?#]/
/** An address that is encoded more often than this is up to something. */
const MAX_ENCODINGS = 4

/** Whether an address is part of the public API, for which browsers may ask from any page. */
export function isPublicAddress(url: string): boolean {
  return PUBLIC.test(url)
}

/** The parts of an address of the session proxy; nothing if it is another one. */
export function proxyAddress(url: string): ProxyAddress | undefined {
  const [, agentName, sessionId, rest, query = ''] = PROXY.exec(url) ?? []
  if (agentName === undefined || sessionId === undefined || rest === undefined) return undefined
  return { agentName, sessionId, rest, query }
}

/** The parts of the address of a WebSocket; nothing if it is another one. */
export function websocketAddress(url: string): WebsocketAddress | undefined {
  const [, agentName, sessionId, token, query = ''] = WEBSOCKET.exec(url) ?? []
  if (agentName === undefined || sessionId === undefined || token === undefined) return undefined
  return { agentName, sessionId, token, query }
}

/**
 * The path as the instance is asked for it. A client that was made from the OpenAPI document sends it as one part with its slashes encoded,
 * because such a document cannot say that a part may have slashes.
 */
export function pathOf({ rest }: Pick<ProxyAddress, 'rest'>): string {
  return rest.includes('/') ? rest : rest.replace(/%2f/gi, '/')
}

/**
 * Throws unless a path stays below its session, however the instance or the framework of a bot may read it. Some decode twice, some
 * take a backslash for a slash, and some cut off what follows a semicolon or an encoded question mark.
 */
export function checkRest({ rest, query }: Pick<ProxyAddress, 'rest' | 'query'>): void {
  if (rest === '') throw refused('what is asked of the session is missing behind its id')
  if (!VISIBLE.test(rest) || !VISIBLE.test(query)) throw refused('characters beyond ASCII must be encoded')
  if (rest.includes('#') || query.includes('#')) throw refused('"#" must be written as %23')
  if (!isUtf8(rest)) throw refused('a "%" in it does not begin an encoded character of UTF-8')
  let text = rest
  for (let times = 0; times <= MAX_ENCODINGS; times += 1) {
    checkSegments(text)
    const decoded = decodedOnce(text)
    if (decoded === text) return
    text = decoded
  }
  throw refused('it is encoded too often')
}

function checkSegments(text: string): void {
  if (text.includes('\\')) throw refused('a backslash is not allowed in it')
  if (hasControl(text)) throw refused('control characters are not allowed in it')
  const segments = text.split('/')
  // A slash at the end is no other place.
  if (segments.length > 1 && segments.at(-1) === '') segments.pop()
  for (const segment of segments) {
    const [name] = segment.split(CUT)
    if (name === '') throw refused('a part of it is empty')
    if (name === '.' || name === '..') throw refused('"." and ".." are not allowed in it')
  }
}

function hasControl(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

function isUtf8(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/** Byte by byte, since only characters of ASCII are looked for. What is not encoded stays as it is. */
function decodedOnce(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function refused(why: string): CloudError {
  return new CloudError('INVALID_REQUEST', `The path is not valid: ${why}.`)
}
