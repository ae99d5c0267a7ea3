import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, isIPv6, type Socket } from 'node:net'
import { errorBody } from '@botcli/protocol'
import { getRequestListener, RequestError as UnreadableRequest } from '@hono/node-server'
import { RunnerError } from '../errors.ts'
import { listenOnSocket } from '../instance/instance-socket.ts'
import type { App } from './app.ts'
import { endWith } from './last-answer.ts'
import type { WebsocketDoor } from './websocket-door.ts'

const REQUEST_LIMIT_MS = 30_000
/** Requests that are being answered when everything ends get this long. */
const LAST_ANSWER_MS = 500
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'connection', 'http2-settings'])

/** What a server serves, and where. */
export interface HttpServerOptions {
  readonly host: string
  readonly port: number
  /** The Unix socket that is listened on instead. */
  readonly socket?: string | undefined
  readonly app: App
  readonly door: WebsocketDoor
}

/** The one HTTP and WebSocket server. */
export class HttpServer {
  readonly #server: Server
  readonly #options: HttpServerOptions
  /** What was last begun to be answered on a connection. */
  readonly #answers = new WeakMap<Socket, ServerResponse>()
  #port = 0

  constructor(options: HttpServerOptions) {
    this.#options = options
    const listener = getRequestListener(options.app.fetch, {
      overrideGlobalObjects: false,
      errorHandler: answerUnroutable,
    })
    this.#server = createServer({ requestTimeout: REQUEST_LIMIT_MS }, (incoming, outgoing) => {
      this.#answers.set(incoming.socket, outgoing)
      void listener(incoming, outgoing)
    })
    // A connection that fails to be taken is noticed by whoever makes it. Without a listener it would end all calls.
    this.#server.on('error', () => {})
    this.#server.on('upgrade', (incoming, socket, head) => {
      // Its answer, or that of a next request, would come before the one that is on its way.
      if (this.#isAnswering(socket as Socket)) socket.destroy()
      else if (incoming.headers.upgrade?.toLowerCase() === 'websocket') {
        void options.door.enter(incoming, socket as Socket, head)
      } else this.#serveWithoutUpgrade(incoming, socket as Socket, head)
    })
    this.#server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
      if (this.#isAnswering(socket as Socket) && this.#answers.get(socket as Socket)?.headersSent)
        socket.destroy()
      else answerUnreadable(socket as Socket, error)
    })
  }

  #isAnswering(socket: Socket): boolean {
    return this.#answers.get(socket)?.writableFinished === false
  }

  /** An upgrade that we do not know, such as HTTP/2, is declined by serving the request as if it had not been asked. */
  #serveWithoutUpgrade(incoming: IncomingMessage, socket: Socket, head: Buffer): void {
    const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`]
    for (let index = 0; index < incoming.rawHeaders.length; index += 2) {
      const name = incoming.rawHeaders[index] ?? ''
      if (!UPGRADE_HEADERS.has(name.toLowerCase())) lines.push(`${name}: ${incoming.rawHeaders[index + 1]}`)
    }
    // Each time would leave listeners on the socket, so there is no next time.
    lines.push('Connection: close', '\r\n')
    socket.unshift(Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), head]))
    this.#server.emit('connection', socket)
  }

  /** Host and port, as an address bar takes them. */
  get address(): string {
    const port = this.#port
    const { host } = this.#options
    const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host
    return `${isIPv6(shown) ? `[${shown}]` : shown}:${port}`
  }

  /** Begins to listen. */
  async listen(): Promise<void> {
    const { host, port, socket } = this.#options
    if (socket !== undefined) return listenOnSocket(this.#server, socket)
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)))
      this.#server.listen(port, host, resolve)
    })
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Takes no new connection, and ends those that idle. */
  stopListening(): void {
    this.#server.close()
    this.#server.closeIdleConnections()
  }

  /** Ends every connection, once the answers that are on their way have left or took too long. */
  async close(): Promise<void> {
    this.#server.closeIdleConnections()
    await new Promise<void>((resolve) => {
      // Sockets that were handed to another process may keep the server from ever being closed.
      const timer = setTimeout(resolve, LAST_ANSWER_MS)
      this.#server.close(() => {
        clearTimeout(timer)
        resolve()
      })
    })
    this.#server.closeAllConnections()
  }
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): RunnerError {
  if (error.code === 'EADDRINUSE') {
    const message = `Port ${port} on ${host} is in use. Stop what uses it, or choose another one with --port.`
    return new RunnerError('port_in_use', message)
  }
  if (error.code === 'EACCES') {
    return new RunnerError('address_unavailable', `Port ${port} may not be used without more rights.`)
  }
  return new RunnerError('address_unavailable', `Cannot listen on ${host}:${port}: ${error.message}`)
}

/** An address that cannot be one, or a host that no host can have, never reaches the routes either. */
function answerUnroutable(error: unknown): Response {
  const [status, body] =
    error instanceof UnreadableRequest
      ? [400, errorBody('invalid_request', `This is not a valid HTTP request: ${error.message}.`)]
      : [500, errorBody('internal_error', 'The runner failed to serve this request.')]
  return Response.json(body, { status, headers: { 'Access-Control-Allow-Origin': '*' } })
}

/** A request that is not HTTP never reaches the routes, but it gets an answer of the same form. */
function answerUnreadable(socket: Socket, error: NodeJS.ErrnoException): void {
  if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const status = tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'
  const message = tooLarge ? 'The headers are too large.' : 'This is not a valid HTTP request.'
  const body = JSON.stringify(errorBody('invalid_request', message))
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nAccess-Control-Allow-Origin: *\r\n`
  endWith(socket, `${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`)
}
