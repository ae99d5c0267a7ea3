import { once } from 'node:events'
import { WebSocket } from 'ws'
import { decodeClientFrame, encodeClientFrame } from '../../packages/protocol/dist/index.js'
import { within } from '../wait.mjs'

const LIMIT_MS = 30_000

/** A caller by WebSocket who starts a session of an echo bot, at the runner or through the cloud. */
export class Visitor {
  #websocket
  #sent = 0

  /** @type {string} */
  sessionId

  /**
   * @param {{ startUrl: string, key?: string }} options
   * @returns {Promise<Visitor>} one whose WebSocket is open
   */
  static async start({ startUrl, key }) {
    const response = await fetch(startUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ transport: 'websocket' }),
      signal: AbortSignal.timeout(LIMIT_MS),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`The start was refused: ${response.status} ${answer.error}`)
    const visitor = new Visitor()
    visitor.sessionId = answer.sessionId
    // Through the cloud the address itself says which session is meant.
    const url = key === undefined ? `${answer.wsUrl}?sessionId=${answer.sessionId}` : answer.wsUrl
    visitor.#websocket = new WebSocket(url, { perMessageDeflate: false })
    await within('the WebSocket to open', once(visitor.#websocket, 'open'), LIMIT_MS)
    visitor.#websocket.on('error', () => {})
    return visitor
  }

  /** A message to the bot and back. */
  async exchange() {
    const mark = `mark ${this.#sent++}`
    const back = new Promise((resolve) => {
      const onMessage = (bytes) => {
        const frame = decodeClientFrame(bytes)
        if (frame?.kind !== 'message' || !frame.data.includes(mark)) return
        this.#websocket.off('message', onMessage)
        resolve()
      }
      this.#websocket.on('message', onMessage)
    })
    this.#websocket.send(encodeClientFrame({ kind: 'message', data: JSON.stringify({ mark }) }))
    await within('the bot to answer', back, LIMIT_MS)
  }

  /** A ping, which is answered without the bot. */
  async ping() {
    this.#websocket.ping()
    await within('a pong', once(this.#websocket, 'pong'), LIMIT_MS)
  }

  async close() {
    const closed = once(this.#websocket, 'close')
    this.#websocket.close()
    await within('the WebSocket to close', closed, LIMIT_MS)
  }
}
