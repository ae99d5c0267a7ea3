import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { type AddressInfo, isIPv6, type Socket } from 'node:net'
import type { CloudErrorCode } from '@botcli/protocol/cloud'
import { getRequestListener, RequestError as UnreadableRequest } from '@hono/node-server'
import { CloudError } from '../errors.ts'
import { answerPreflight, CORS_HEADERS, isPreflight } from '../gateway/cors.ts'
import type { Gateway } from '../gateway/gateway.ts'
import { isPublicAddress } from '../gateway/public-address.ts'
import { endWith } from '../gateway/raw-answer.ts'
import type { CloudLog } from '../log.ts'
import type { App } from './app.ts'
import { errorAnswerOf } from './error-answer.ts'
import type { LogDoor } from './log-door.ts'

/** Uploads may take as long as their places live; other bodies have limits of their own. */
const REQUEST_LIMIT_MS = 16 * 60_000
const HEAD_LIMIT_MS = 15_000
/** A client that neither sends nor takes anything for so long is let go. Streams have a comment more often than this. */
export const IDLE_LIMIT_MS = 60_000
const LAST_ANSWER_MS = 500
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'connection', 'http2-settings'])

/** What a server serves, and where. */
export interface HttpServerOptions {
  readonly host: string
  readonly port: number
  readonly app: App
  readonly logDoor: LogDoor
  /** Brings callers to their sessions. */
  readonly gateway?: Gateway | undefined
  readonly log: CloudLog
  /** A client that neither sends nor takes anything for so long is let go. */
  readonly idleMs?: number | undefined
}

/** The one HTTP server. Logs and sessions go through doors of their own, everything else to the routes. */
export class HttpServer {
  readonly #server: Server
  readonly #options: HttpServerOptions
  /** What was last begun to be answered on a connection. */
  readonly #answers = new WeakMap<Socket, ServerResponse>()
  #port = 0

  constructor(options: HttpServerOptions) {
    this.#options = options
    const routes = getRequestListener(
      (request, env) => options.app.fetch(request, { ...env, requestId: requestIdOf(env.outgoing) }),
      { overrideGlobalObjects: false, errorHandler: (error) => answerUnroutable(error, options.log) },
    )
    const { logDoor, gateway } = options
    const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
      this.#answers.set(incoming.socket, outgoing)
      const buildId = logDoor.match(incoming)
      if (buildId !== undefined) {
        void this.#serveBytes(logDoor.serve(buildId, incoming, outgoing), incoming, outgoing)
        return
      }
      if (isPublicAddress(incoming.url ?? '')) {
        if (isPreflight(incoming)) {
          answerPreflight(incoming, outgoing)
          return
        }
        const address = gateway?.match(incoming)
        if (gateway && address) {
          void this.#serveBytes(gateway.serve(address, incoming, outgoing), incoming, outgoing)
          return
        }
        for (const [name, value] of Object.entries(CORS_HEADERS)) outgoing.setHeader(name, value)
      }
      outgoing.setHeader('X-Request-Id', randomUUID())
      void routes(incoming, outgoing)
    }
    const limits = { requestTimeout: REQUEST_LIMIT_MS, headersTimeout: HEAD_LIMIT_MS }
    // Without these, some wrong headers are answered without a body.
    this.#server = createServer({ ...limits, requireHostHeader: false }, listener)
    this.#server.on('checkExpectation', listener)
    this.#server.on('checkContinue', (incoming, outgoing) => {
      // Whether a session wants a body is for its instance to say.
      if (gateway?.match(incoming) === undefined) outgoing.writeContinue()
      listener(incoming, outgoing)
    })
    if (gateway) {
      this.#server.on('upgrade', (incoming, socket, head) => {
        // Its answer, or that of a next request, would come before the one that is on its way.
        if (this.#isAnswering(socket as Socket)) socket.destroy()
        else if (!gateway.enter(incoming, socket as Socket, head))
          this.#serveWithoutUpgrade(incoming, socket as Socket, head)
      })
    }
    this.#server.timeout = options.idleMs ?? IDLE_LIMIT_MS
    // One limit for all idle connections: another one between requests would mean two new timers for each of them.
    this.#server.keepAliveTimeout = 0
    this.#server.on('connect', (_incoming, socket) => {
      answerRaw(socket as Socket, 'METHOD_NOT_ALLOWED', '405 Method Not Allowed', 'This is not a proxy.')
    })
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      // Another answer would become a part of the one that is on its way.
      if (this.#isAnswering(socket as Socket) && this.#answers.get(socket as Socket)?.headersSent)
        socket.destroy()
      else answerUnreadable(socket as Socket, error)
    })
  }

  /** Host and port, as an address bar takes them. */
  get address(): string {
    const { host } = this.#options
    const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host
    return `${isIPv6(shown) ? `[${shown}]` : shown}:${this.#port}`
  }

  /** Begins to listen. */
  async listen(): Promise<void> {
    const { host, port, log } = this.#options
    await new Promise<void>((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException): void => reject(listenError(error, host, port))
      this.#server.once('error', fail)
      this.#server.listen(port, host, () => {
        this.#server.off('error', fail)
        resolve()
      })
    })
    // Whoever makes the connection notices. Without a listener it would end the process.
    this.#server.on('error', (error) => log.warn('a connection could not be taken', { error }))
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Ends every connection, once the answers that are on their way have left or took too long. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#server.closeAllConnections()
        // Sockets that were handed to another process count until that has closed them.
        resolve()
      }, LAST_ANSWER_MS)
      this.#server.close(() => {
        clearTimeout(timer)
        resolve()
      })
      this.#server.closeIdleConnections()
    })
  }

  #isAnswering(socket: Socket): boolean {
    return this.#answers.get(socket)?.writableFinished === false
  }

  /** An upgrade that nobody here knows is declined by serving the request as if it had not been asked. */
  #serveWithoutUpgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    const { method, url, httpVersion, rawHeaders } = incoming
    const lines = [`${method} ${url} HTTP/${httpVersion}`]
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = rawHeaders[index] ?? ''
      if (!UPGRADE_HEADERS.has(name.toLowerCase())) lines.push(`${name}: ${rawHeaders[index + 1]}`)
    }
    // Each time would leave listeners on the socket, so there is no next time.
    lines.push('Connection: close', '\r\n')
    socket.unshift(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), head]))
    this.#server.emit('connection', socket)
  }

  /** Answers for what is served as bytes, if it has failed. */
  async #serveBytes(
    served: Promise<void>,
    incoming: IncomingMessage,
    outgoing: ServerResponse,
  ): Promise<void> {
    try {
      await served
    } catch (error) {
      // Such requests are many and cost little; only what goes wrong gets an id.
      const requestId = randomUUID()
      if (outgoing.headersSent) {
        this.#options.log.warn('an answer broke off', { requestId, error })
        outgoing.destroy()
        return
      }
      const { status, headers, body } = errorAnswerOf(error, this.#options.log, requestId)
      outgoing.setHeader('X-Request-Id', requestId)
      const bytes = Buffer.from(JSON.stringify(body))
      const form = { 'Content-Type': 'application/json', 'Content-Length': bytes.length }
      const cors = isPublicAddress(incoming.url ?? '') ? CORS_HEADERS : {}
      // Named, since one that was refused before would be remembered.
      outgoing.writeHead(status, STATUS_CODES[status] ?? '', { ...cors, ...headers, ...form })
      outgoing.end(incoming.method === 'HEAD' ? undefined : bytes)
    }
  }
}

function requestIdOf(outgoing: { getHeader(name: string): unknown }): string {
  return String(outgoing.getHeader('X-Request-Id') ?? '')
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): CloudError {
  if (error.code === 'EADDRINUSE') {
    const message = `Port ${port} on ${host} is in use. Stop what uses it, or choose another one with --port.`
    return new CloudError('CONFLICT', message, { cause: error })
  }
  if (error.code === 'EACCES') {
    return new CloudError('FORBIDDEN', `Port ${port} may not be used without more rights.`, { cause: error })
  }
  return new CloudError('UNAVAILABLE', `Cannot listen on ${host}:${port}: ${error.message}`, { cause: error })
}

/** An address that cannot be one, or a host that no host can have, never reaches the routes. */
function answerUnroutable(error: unknown, log: CloudLog): Response {
  const known =
    error instanceof UnreadableRequest || error instanceof TypeError
      ? new CloudError('INVALID_REQUEST', `This is not a valid HTTP request: ${error.message}.`)
      : error
  const { status, headers, body } = errorAnswerOf(known, log, '')
  return Response.json(body, { status, headers })
}

/** A request that is not HTTP never reaches the routes, but it gets an answer of the same form. */
function answerUnreadable(socket: Socket, error: NodeJS.ErrnoException): void {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const message = 'The headers are too large.'
    answerRaw(socket, 'INVALID_REQUEST', '431 Request Header Fields Too Large', message)
  } else if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    answerRaw(socket, 'INVALID_REQUEST', '408 Request Timeout', 'The request took too long to arrive.')
  } else answerRaw(socket, 'INVALID_REQUEST', '400 Bad Request', 'This is not a valid HTTP request.')
}

function answerRaw(socket: Socket, code: CloudErrorCode, statusLine: string, message: string): void {
  const body = JSON.stringify({ error: message, code })
  const head = `HTTP/1.1 ${statusLine}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`
  endWith(socket, `${head}Connection: close\r\n\r\n${body}`)
}
