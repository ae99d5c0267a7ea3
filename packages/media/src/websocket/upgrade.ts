import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'

/** The largest message that a client may send. */
const MAX_MESSAGE_BYTES = 1024 * 1024

/** An HTTP request that asks for a WebSocket, as plain data, so that another process can answer it. */
export interface UpgradeRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[]>>
  /** What the client had sent beyond its request. */
  readonly head: Uint8Array
}

const server = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  // Tokens travel in the address or in a header, so a subprotocol is only ever echoed.
  handleProtocols: (protocols) => protocols.values().next().value ?? false,
})

/** Answers the request on its socket. Nothing is given when it was not a valid one; it was told so then. */
export function acceptUpgrade(request: UpgradeRequest, socket: Duplex): WebSocket | undefined {
  const { url, headers, head } = request
  // `ws` reads nothing else of a request than this.
  const incoming = { method: 'GET', url, headers, socket } as unknown as IncomingMessage
  let accepted: WebSocket | undefined
  server.handleUpgrade(incoming, socket, Buffer.from(head), (websocket) => {
    accepted = websocket
  })
  // Whoever checked the request may have paused the socket, and a listener alone does not wake it.
  socket.resume()
  return accepted
}
