import { isUtf8 } from 'node:buffer'
import { CLOSE_CODES, type SessionOutcome, type SocketMessage } from '@botcli/protocol'
import type { WebSocket } from 'ws'
import type { GuestChannel, GuestFrame, GuestOver, GuestWord } from '../session/guest-channel.ts'
import type { MediaSessionEvents } from '../session/hosted-session.ts'
import { closeWebsocket, closingOf } from '../websocket/close-websocket.ts'
import { Inbox } from './inbox.ts'
import type { Relay, RelayCounters } from './relay.ts'

/** A caller that has not taken so much of what the bot sent will not take the rest in time. */
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024

/** How long a relay waits in each case. */
export interface SocketRelayLimits {
  /** A caller that lets two of these pass without a sign of life is gone. */
  readonly pingMs: number
  /** When the caller has left, a slow bot gets this long to take in its last messages. */
  readonly lastMessagesMs: number
  /** A bot that has closed its caller's socket gets this long to return. */
  readonly returnMs: number
}

const LIMITS: SocketRelayLimits = { pingMs: 10_000, lastMessagesMs: 2000, returnMs: 10_000 }

/** A message as it came from the socket. */
export interface RawMessage {
  readonly data: Buffer
  readonly isBinary: boolean
}

/** What a relay is made of. */
export interface SocketRelayOptions {
  readonly websocket: WebSocket
  /** What came before there was a relay. */
  readonly early?: readonly RawMessage[]
  readonly events: MediaSessionEvents
  readonly limits?: Partial<SocketRelayLimits>
}

/** A caller's WebSocket whose messages go to the bot as they are, and back. A slow bot holds its caller back. */
export class SocketRelay implements Relay {
  readonly finished: Promise<void>
  readonly #websocket: WebSocket
  readonly #events: MediaSessionEvents
  readonly #limits: SocketRelayLimits
  readonly #inbox = new Inbox()
  readonly #pinger: NodeJS.Timeout
  #patience: NodeJS.Timeout | undefined
  #open = true
  /** Why the caller is gone, until its last messages are on their way to the bot. */
  #left: GuestOver | undefined
  #answeredPing = true
  #messagesIn = 0
  #messagesOut = 0
  #badMessages = 0

  constructor({ websocket, early = [], events, limits }: SocketRelayOptions) {
    this.#websocket = websocket
    this.#events = events
    this.#limits = { ...LIMITS, ...limits }
    this.finished = closingOf(websocket)
    websocket.binaryType = 'nodebuffer'
    for (const { data, isBinary } of early) this.#onMessage(data, isBinary)
    websocket.on('message', (data: Buffer, isBinary: boolean) => this.#onMessage(data, isBinary))
    websocket.on('pong', () => {
      this.#answeredPing = true
    })
    websocket.on('close', (code) => this.#onClose(code))
    // A close follows each error, and it is the close that says what to do.
    websocket.on('error', () => {})
    this.#pinger = setInterval(() => this.#ping(), this.#limits.pingMs)
    events.connected()
  }

  get counters(): RelayCounters {
    return {
      messagesIn: this.#messagesIn,
      messagesOut: this.#messagesOut,
      badMessages: this.#badMessages,
    }
  }

  join(guest: GuestChannel): void {
    this.#inbox.open((data) => guest.socket(data))
    this.#steer()
  }

  word(word: GuestWord): boolean {
    if (word.type !== 'socket-close') return false
    this.#closeForBot(word.code, word.reason)
    return true
  }

  frame(frame: GuestFrame): GuestOver | undefined {
    if (frame.kind === 'socket') return this.#send(frame.data)
    if (frame.kind === 'heard' && this.#inbox.confirm(frame.frames)) {
      this.#steer()
      return undefined
    }
    const deed = frame.kind === 'heard' ? 'confirmed more messages than it was sent' : 'sent sound'
    return { cause: 'bot_failed', message: `The bot's process ${deed}, but it has its caller's socket.` }
  }

  close(outcome: SessionOutcome): void {
    clearTimeout(this.#patience)
    this.#left = undefined
    if (this.#open) this.#closeSocket(CLOSE_CODES[outcome.cause], outcome.message)
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (!this.#open) return
    this.#answeredPing = true
    // Not every upgrade checks this, and the link does not carry it.
    if (!isBinary && !isUtf8(data)) {
      this.#badMessages += 1
      return
    }
    this.#messagesIn += 1
    this.#inbox.push(isBinary ? data : data.toString('utf8'), data.length)
    this.#steer()
  }

  #send(data: SocketMessage): GuestOver | undefined {
    if (!this.#open) return undefined
    this.#websocket.send(data)
    this.#messagesOut += 1
    if (this.#websocket.bufferedAmount <= MAX_OUTPUT_BYTES) return undefined
    return { cause: 'bot_flooded', message: 'The bot sent more than its caller could take.' }
  }

  /** Reads the caller only as fast as the bot does, and lets it go when everything it said is on its way. */
  #steer(): void {
    if (this.#left !== undefined && this.#inbox.empty) this.#leave(this.#left)
    if (!this.#open || this.#inbox.full === this.#websocket.isPaused) return
    if (this.#inbox.full) this.#websocket.pause()
    else {
      // An answer may wait among what was not read.
      this.#answeredPing = true
      this.#websocket.resume()
    }
  }

  /** The bot may still have work to do without its caller, such as writing down what was said. */
  #closeForBot(code: number, reason: string): void {
    if (!this.#open) return
    this.#closeSocket(isCloseCode(code) ? code : CLOSE_CODES.bot_returned, reason)
    const { returnMs } = this.#limits
    this.#leaveWithin(returnMs, { cause: 'bot_returned', message: 'The bot closed the connection.' })
  }

  #closeSocket(code: number, reason: string): void {
    this.#free()
    closeWebsocket(this.#websocket, code, reason)
    // The answer to the close is behind what was not read.
    this.#websocket.resume()
  }

  #ping(): void {
    const canAnswer = !this.#websocket.isPaused
    if (canAnswer && !this.#answeredPing) {
      this.#free()
      this.#websocket.terminate()
      this.#leave({ cause: 'client_lost', message: 'The client stopped answering.' })
      return
    }
    // Sent in any case: a connection that is broken shows only when something is sent.
    this.#answeredPing = !canAnswer
    this.#websocket.ping()
  }

  #onClose(code: number): void {
    if (!this.#open) return
    this.#free()
    const left: GuestOver =
      code === 1006
        ? { cause: 'client_lost', message: 'The connection to the client broke.' }
        : { cause: 'client_left', message: `The client closed the connection (code ${code}).` }
    this.#left = left
    this.#leaveWithin(this.#limits.lastMessagesMs, left)
    this.#steer()
  }

  #leaveWithin(ms: number, reason: GuestOver): void {
    this.#patience = setTimeout(() => this.#leave(reason), ms)
  }

  #leave(reason: GuestOver): void {
    clearTimeout(this.#patience)
    this.#left = undefined
    this.#events.over(reason)
  }

  #free(): void {
    this.#open = false
    clearInterval(this.#pinger)
  }
}

/** Whether a code may be sent: the others only say what happened to a socket. */
function isCloseCode(code: number): boolean {
  if (code >= 3000 && code <= 4999) return true
  return code >= 1000 && code <= 1014 && ![1004, 1005, 1006].includes(code)
}
