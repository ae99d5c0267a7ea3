import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocket } from 'ws'

/** A runner sends nothing that is nearly as long. */
const MAX_MESSAGE_BYTES = 1024 * 1024
const MAX_REFUSAL_BYTES = 4096

/** What a socket tells the call that owns it. `closed` comes exactly once, at the end. */
export interface PhoneSocketEvents {
  open(): void
  /** The runner answered, but not with a WebSocket; or there was no runner. */
  refused(message: string, status?: number): void
  message(data: Buffer, isBinary: boolean): void
  closed(code: number, reason: string): void
}

/** A WebSocket that can also be used badly. */
export class PhoneSocket {
  readonly #websocket: WebSocket
  #socket: Socket | undefined
  #isDeaf = false
  /** Whether there was an answer, of whatever kind. */
  #isAnswered = false

  constructor(websocket: WebSocket, events: PhoneSocketEvents) {
    this.#websocket = websocket
    websocket.binaryType = 'nodebuffer'
    websocket.on('upgrade', ({ socket }) => {
      this.#socket = socket
    })
    websocket.on('open', () => {
      this.#isAnswered = true
      events.open()
    })
    websocket.on('unexpected-response', (_, response) => {
      this.#isAnswered = true
      refusalOf(response).then((message) => {
        events.refused(message, response.statusCode)
        websocket.terminate()
      })
    })
    websocket.on('error', (error) => {
      if (!this.#isAnswered) events.refused(reasonOf(error))
    })
    websocket.on('message', (data: Buffer, isBinary: boolean) => events.message(data, isBinary))
    websocket.on('ping', (data) => {
      if (!this.#isDeaf && websocket.readyState === WebSocket.OPEN) websocket.pong(data)
    })
    websocket.on('close', (code, reason) => events.closed(code, reason.toString()))
  }

  send(message: string | Uint8Array): void {
    if (this.#websocket.readyState === WebSocket.OPEN) this.#websocket.send(message)
  }

  /** Says good-bye. The end is told when the other side has answered. */
  close(): void {
    this.#websocket.close(1000)
  }

  /** Drops the connection. */
  drop(): void {
    this.#websocket.terminate()
  }

  /** Answers nothing any more, not even whether it is there. */
  ignore(): void {
    this.#isDeaf = true
  }

  /** Ends the sending half of the connection, behind the back of the WebSocket. */
  halfClose(): void {
    this.#socket?.end()
  }

  pause(): void {
    this.#websocket.pause()
  }

  resume(): void {
    this.#websocket.resume()
  }
}

/** Connects as a carrier does. Pings are answered by hand, so that they can be left unanswered. */
export function connectAsCarrier(url: string, answerMs: number, origin?: string): WebSocket {
  return new WebSocket(url, {
    ...(origin !== undefined && { origin }),
    autoPong: false,
    handshakeTimeout: answerMs,
    maxPayload: MAX_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
}

async function refusalOf(response: IncomingMessage): Promise<string> {
  let text = ''
  response.setEncoding('utf8')
  try {
    for await (const part of response) {
      text += part
      if (text.length > MAX_REFUSAL_BYTES) break
    }
  } catch {
    // What has come is all that there is to show.
  }
  return errorIn(text) ?? response.statusMessage ?? ''
}

/** The sentence in the error body of a runner. */
function errorIn(text: string): string | undefined {
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body !== 'object' || body === null || !('error' in body)) return undefined
    return typeof body.error === 'string' ? body.error : undefined
  } catch {
    return undefined
  }
}

function reasonOf(error: Error): string {
  // A name with several addresses fails with one error for each, and no words of its own.
  const inner = error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message
  return inner.replaceAll(/\bError: /g, '')
}
