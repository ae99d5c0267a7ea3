import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type WebSocket, WebSocketServer } from 'ws'

/** A server on a Unix socket, as an instance is one. What it does with a request is up to the test. */
export class StandInInstance {
  readonly socketPath: string
  /** Every request that it was asked, upgrades too: method and path. */
  readonly asked: string[] = []
  /** The last request that it was asked. */
  last: IncomingMessage | undefined
  serve: RequestListener = (_, response) => response.end('ok')
  /** Gets the WebSockets that it has accepted. */
  onWebsocket: (websocket: WebSocket) => void = (websocket) => {
    websocket.on('message', (data, isBinary) => websocket.send(data, { binary: isBinary }))
  }
  /** What becomes of an upgrade; by default a WebSocket. */
  onUpgrade: ((incoming: IncomingMessage, socket: Socket, head: Buffer) => void) | undefined
  readonly #folder: string
  readonly #server: Server
  readonly #websockets: WebSocketServer
  readonly #sockets = new Set<Socket>()

  private constructor(folder: string, perMessageDeflate: boolean) {
    this.#folder = folder
    this.socketPath = join(folder, 'socket')
    this.#websockets = new WebSocketServer({ noServer: true, perMessageDeflate, maxPayload: 256 * 1024 ** 2 })
    this.#server = createServer((request, response) => {
      this.#note(request)
      this.serve(request, response)
    })
    this.#server.on('connection', (socket) => {
      this.#sockets.add(socket)
      socket.once('close', () => this.#sockets.delete(socket))
    })
    this.#server.on('upgrade', (request, socket, head) => {
      this.#note(request)
      if (this.onUpgrade) this.onUpgrade(request, socket as Socket, head)
      else this.#websockets.handleUpgrade(request, socket, head, (websocket) => this.onWebsocket(websocket))
    })
  }

  static async start({ perMessageDeflate = false } = {}): Promise<StandInInstance> {
    const instance = new StandInInstance(await mkdtemp(join(tmpdir(), 'botcli-stand-in-')), perMessageDeflate)
    instance.#server.listen(instance.socketPath)
    await once(instance.#server, 'listening')
    return instance
  }

  /** WebSockets that are open. */
  get websockets(): ReadonlySet<WebSocket> {
    return this.#websockets.clients
  }

  /** Decides about bodies before they are sent. */
  onExpect(serve: RequestListener): void {
    this.#server.on('checkContinue', serve)
  }

  /** As a process that is killed: everything breaks off. */
  async close(): Promise<void> {
    if (this.#server.listening) {
      const closed = once(this.#server, 'close')
      this.#server.close()
      for (const socket of this.#sockets) socket.destroy()
      await closed
    }
    await rm(this.#folder, { recursive: true, force: true })
  }

  #note(request: IncomingMessage): void {
    this.last = request
    this.asked.push(`${request.method} ${request.url}`)
  }
}
