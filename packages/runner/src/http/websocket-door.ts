import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { MediaError } from '@botcli/media'
import { isCarrier, type TransportId } from '@botcli/protocol'
import type { WsAuth } from '../config.ts'
import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'
import type { Connector } from '../sessions/connector.ts'
import type { Session } from '../sessions/session.ts'
import type { SessionTable } from '../sessions/session-table.ts'
import type { SessionTokens } from '../sessions/session-tokens.ts'
import { requestErrorOf } from './errors.ts'
import { endWith } from './last-answer.ts'
import { isLocalProgram } from './local-caller.ts'
import type { OriginPolicy } from './origin-policy.ts'
import { requireTransport } from './start.ts'

const KEY = /^[+/0-9A-Za-z]{22}==$/
const VERSION = /^(?:13|8)$/
const TOKENS = /^[!#$%&'*+.^_`|~\w-]+(?:[ \t]*,[ \t]*[!#$%&'*+.^_`|~\w-]+)*$/

/** What the door works with. */
export interface WebsocketDoorOptions {
  readonly transports: readonly TransportId[]
  readonly wsAuth: WsAuth
  /** Whether evals are let in from other machines, too. */
  readonly evals: boolean
  readonly origins: OriginPolicy
  readonly table: SessionTable
  readonly tokens: SessionTokens
  readonly connector: Connector
  readonly logger: Logger
}

/** Lets WebSocket callers in: everything is checked here, and then the socket goes to a media host. */
export class WebsocketDoor {
  readonly #options: WebsocketDoorOptions

  constructor(options: WebsocketDoorOptions) {
    this.#options = options
  }

  /** Serves one upgrade request. Never throws. */
  async enter(incoming: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    const { origins, connector, logger } = this.#options
    // A client that breaks off is no news; without a listener it would end the process.
    socket.on('error', () => {})
    socket.setTimeout(0)
    let attempt: Session | undefined
    try {
      const url = this.#check(incoming, socket)
      const { session, created } = isCall(url) ? this.#call(url) : this.#session(incoming, url)
      if (created) attempt = session
      const upgrade = upgradeOf(incoming, head)
      if (isCall(url)) {
        await connector.call(session, upgrade, socket, this.#admission(incoming, socket, url, session))
      } else await connector.websocket(session, upgrade, socket)
    } catch (error) {
      if (error instanceof MediaError && error.code === 'invalid_call') {
        // The upgrade is done and the caller was told on the socket, where nothing else may be written.
        const level = attempt?.state === 'waiting' ? 'warn' : 'debug'
        if (attempt !== undefined) this.#options.table.discard(attempt, error.message)
        logger[level](`a phone call was refused: ${error.message}`)
        return
      }
      const refusal = requestErrorOf(error, logger)
      if (attempt !== undefined) this.#options.table.discard(attempt, refusal.message)
      const path = pathOf(incoming.url)
      // A carrier that is refused does not tell anybody.
      const level = path === '/ws' ? 'warn' : 'debug'
      logger[level](`a WebSocket was refused: ${refusal.message}`, { path, code: refusal.code })
      refuse(socket, refusal, origins.headers(incoming.headers.origin))
    }
  }

  #check(incoming: IncomingMessage, socket: Socket): URL {
    const { origins, transports } = this.#options
    const url = parseUrl(incoming.url)
    const { origin } = incoming.headers
    // Evals show no origin, and only later what they are. What turns out to be something else is refused then.
    const mayBeEval = origin === undefined && this.#letsEvalsIn(incoming, socket, url)
    // A page is never loaded by WebSocket, so nothing but the origin counts. An address that nobody can guess counts as much.
    if (sessionOfCall(url) === undefined && !mayBeEval) origins.checkOrigin(origin)
    if (url.pathname !== '/ws-client' && !isCall(url)) {
      throw new RequestError('not_found', `There is no WebSocket at ${url.pathname}.`)
    }
    if (!isCall(url)) requireTransport('websocket', transports)
    if (incoming.headers.upgrade?.toLowerCase() !== 'websocket' || incoming.method !== 'GET') {
      throw new RequestError('upgrade_required', 'This address only speaks WebSocket.')
    }
    checkHandshake(incoming.headers)
    return url
  }

  /** The session of a call that was announced, or a new one. Which carrier it is, nobody knows yet. */
  #call(url: URL): { session: Session; created: boolean } {
    const { table } = this.#options
    const announced = sessionOfCall(url)
    if (announced === undefined) return { session: table.create(undefined), created: true }
    const session = table.live(announced)
    if (session.transport === undefined || isCarrier(session.transport)) return { session, created: false }
    throw new RequestError('session_busy', `This session was started for ${session.transport}.`)
  }

  /** Who may come in now: an announced call is of its carrier only. */
  #admission(incoming: IncomingMessage, socket: Socket, url: URL, session: Session) {
    const { origins, transports } = this.#options
    if (isCarrier(session.transport)) return { served: [session.transport], evals: false }
    const evals = this.#letsEvalsIn(incoming, socket, url)
    const whyOnly = sessionOfCall(url) === undefined ? origins.refusalOf(incoming.headers.origin) : undefined
    if (whyOnly !== undefined) return { served: [], whyOnly, evals }
    return { served: transports.filter(isCarrier), evals }
  }

  /** Evals may rewrite what a bot was told, so not everybody who can call can run one. */
  #letsEvalsIn({ headers }: IncomingMessage, { remoteAddress }: Socket, { pathname }: URL): boolean {
    return pathname === '/ws' && (this.#options.evals || isLocalProgram(headers, remoteAddress))
  }

  /** The session that the client names, by token or by id, or a new one. */
  #session(incoming: IncomingMessage, url: URL): { session: Session; created: boolean } {
    const { table, tokens, wsAuth } = this.#options
    const named = url.searchParams.get('sessionId') ?? undefined
    if (wsAuth === 'none') {
      if (named === undefined) return { session: table.create('websocket'), created: true }
      return { session: this.#waiting(named), created: false }
    }
    const token = url.searchParams.get('token') ?? bearer(incoming.headers.authorization)
    const opened = tokens.sessionOf(token ?? '')
    if (opened === undefined || (named !== undefined && named !== opened)) {
      throw new RequestError('token_invalid', 'A valid token is needed. POST /start gives one with wsUrl.')
    }
    return { session: this.#waiting(opened), created: false }
  }

  #waiting(sessionId: string): Session {
    const session = this.#options.table.live(sessionId)
    if (session.transport === 'websocket') return session
    throw new RequestError('session_busy', `This session was started for ${session.transport}.`)
  }
}

/** Whether this is where phone calls arrive. */
function isCall(url: URL): boolean {
  return url.pathname === '/ws' || sessionOfCall(url) !== undefined
}

/** The session in the address of an announced call. */
function sessionOfCall({ pathname }: URL): string | undefined {
  return /^\/sessions\/([\w-]+)\/ws$/.exec(pathname)?.[1]
}

/** What `ws` would refuse later, when a session and a bot have been spent on it and its answer is not ours. */
function checkHandshake(headers: IncomingMessage['headers']): void {
  const key = headers['sec-websocket-key'] ?? ''
  const version = headers['sec-websocket-version'] ?? ''
  const protocols = headers['sec-websocket-protocol']
  if (KEY.test(key) && VERSION.test(version) && (protocols === undefined || areTokens(protocols))) return
  throw new RequestError(
    'upgrade_required',
    'The WebSocket handshake is not valid; version 13 is spoken here.',
  )
}

/** A list of names, each of them once. */
function areTokens(list: string): boolean {
  const names = list.split(/[ \t]*,[ \t]*/)
  return TOKENS.test(list) && new Set(names).size === names.length
}

function parseUrl(text: string | undefined): URL {
  try {
    return new URL(text ?? '/', 'ws://runner')
  } catch {
    throw new RequestError('not_found', 'The address cannot be understood.')
  }
}

/** What of an address may be logged: a query can hold a token under any spelling. */
function pathOf(text = '/'): string | undefined {
  return URL.canParse(text, 'ws://runner') ? new URL(text, 'ws://runner').pathname : undefined
}

function bearer(header: string | undefined): string | undefined {
  return header?.match(/^Bearer\s+(\S+)$/i)?.[1]
}

function upgradeOf({ url = '/', headers }: IncomingMessage, head: Buffer) {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return { url, headers: Object.fromEntries(given), head }
}

function refuse(socket: Socket, error: RequestError, cors: Readonly<Record<string, string>>): void {
  if (socket.destroyed || !socket.writable) return
  const body = JSON.stringify(error.body)
  const headers = {
    ...cors,
    ...error.headers,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const status = `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`
  endWith(socket, [status, ...lines, '', body].join('\r\n'))
}
