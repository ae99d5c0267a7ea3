import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type ServerOptions, WebSocket, WebSocketServer } from 'ws'
import { MAX_MESSAGE_BYTES, reasonOf } from './socket-fault.ts'

/** Tells a client that breaks a rule which one; by itself `ws` closes with a bare code then. */
class WordyWebSocket extends WebSocket {
  override close(code?: number, reason: string | Buffer | undefined = reasonOf(code)): void {
    super.close(code, reason)
  }
}

/** An HTTP request that asks for a WebSocket, as plain data, so that another process can answer it. */
export interface UpgradeRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string | string[]>>
  /** What the client had sent beyond its request. */
  readonly head: Uint8Array
}

const OPTIONS: ServerOptions<typeof WordyWebSocket> = {
  WebSocket: WordyWebSocket,
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: MAX_MESSAGE_BYTES,
  // Tokens travel in the address or in a header, so a subprotocol is only ever echoed.
  handleProtocols: (protocols) => protocols.values().next().value ?? false,
}

const server = new WebSocketServer(OPTIONS)
/** What is no text is a bad message like any other, and none of these ends a call. */
const lenientServer = new WebSocketServer({ ...OPTIONS, skipUTF8Validation: true })

/**
 * Answers the request on its socket. Nothing is given when it was not a valid one; it was told so then. A lenient one lives on
 * when a message is no text.
 */
export function acceptUpgrade(
  request: UpgradeRequest,
  socket: Duplex,
  { lenient = false } = {},
): WebSocket | undefined {
  const { url, headers, head } = request
  // `ws` reads nothing else of a request than this.
  const incoming = { method: 'GET', url, headers, socket } as unknown as IncomingMessage
  let accepted: WebSocket | undefined
  const asked = lenient ? lenientServer : server
  asked.handleUpgrade(incoming, socket, Buffer.from(head), (websocket) => {
    accepted = websocket
  })
  // Whoever checked the request may have paused the socket, and a listener alone does not wake it.
  socket.resume()
  return accepted
}
