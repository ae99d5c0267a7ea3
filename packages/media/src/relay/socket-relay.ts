import { isUtf8 } from 'node:buffer'
import { CLOSE_CODES, type SessionOutcome, type SocketMessage } from '@botcli/protocol'
import type { WebSocket } from 'ws'
import type { GuestChannel, GuestFrame, GuestOver, GuestWord } from '../session/guest-channel.ts'
import type { MediaSessionEvents } from '../session/hosted-session.ts'
import { closeWebsocket, closingOf } from '../websocket/close-websocket.ts'
import { type SocketEnd, socketFault } from '../websocket/socket-fault.ts'
import { Inbox } from './inbox.ts'
import { Outbox } from './outbox.ts'
import type { Relay, RelayCounters } from './relay.ts'

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

/** So many pings a caller may leave unanswered that takes nothing more of what is waiting for it. */
const HELD_UP_PINGS = 6

/** A caller that is gone: why, and how its socket was closed. */
interface Departure extends GuestOver {
  readonly end: SocketEnd
}

/** A socket that broke without a word. */
const BROKEN: SocketEnd = { code: 1006, reason: '' }

/** A caller's WebSocket whose messages go to the bot as they are, and back. Who is slow holds the other one back. */
export class SocketRelay implements Relay {
  readonly finished: Promise<void>
  readonly #websocket: WebSocket
  readonly #events: MediaSessionEvents
  readonly #limits: SocketRelayLimits
  readonly #inbox = new Inbox()
  readonly #outbox = new Outbox((count) => this.#guest?.socketHeard(count))
  readonly #pinger: NodeJS.Timeout
  #guest: GuestChannel | undefined
  #patience: NodeJS.Timeout | undefined
  #open = true
  /** Why the caller is gone, until its last messages are on their way to the bot. */
  #left: Departure | undefined
  #answeredPing = true
  #silentPings = 0
  /** Whether something has been waiting for the caller to take it since it last answered. */
  #heldUp = false
  /** How many messages had gone to the caller at the last ping. */
  #leftAtPing = 0
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
    websocket.on('close', (code, reason) => this.#onClose(code, reason.toString()))
    websocket.on('error', (error) => this.#onError(error))
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
    this.#guest = guest
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
    if (!this.#outbox.take(Buffer.byteLength(data))) {
      return { cause: 'bot_flooded', message: "The bot's process sent more than its caller had taken." }
    }
    if (this.#open) {
      this.#messagesOut += 1
      this.#websocket.send(data, () => this.#outbox.leave())
    } else this.#outbox.leave()
    return undefined
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
    this.#patience = setTimeout(() => {
      this.#events.over({ cause: 'bot_returned', message: 'The bot closed the connection.' })
    }, this.#limits.returnMs)
  }

  #closeSocket(code: number, reason: string): void {
    this.#free()
    closeWebsocket(this.#websocket, code, reason)
    // The answer to the close is behind what was not read.
    this.#websocket.resume()
  }

  #ping(): void {
    const canAnswer = !this.#websocket.isPaused
    if (this.#answeredPing) this.#heldUp = false
    // A slow caller comes to a ping only after all that it has not read yet, and that it reads shows in large steps.
    const takesMore = this.#heldUp && this.#outbox.left > this.#leftAtPing
    this.#silentPings = this.#answeredPing || takesMore ? 0 : this.#silentPings + 1
    if (canAnswer && this.#silentPings >= (this.#heldUp ? HELD_UP_PINGS : 1)) {
      this.#free()
      this.#websocket.terminate()
      this.#leave({ cause: 'client_lost', message: 'The client stopped answering.', end: BROKEN })
      return
    }
    // Sent in any case: a connection that is broken shows only when something is sent.
    this.#answeredPing = !canAnswer
    this.#heldUp ||= !this.#outbox.empty
    this.#leftAtPing = this.#outbox.left
    this.#websocket.ping()
  }

  #onClose(code: number, reason: string): void {
    if (code === BROKEN.code) {
      this.#depart({ cause: 'client_lost', message: 'The connection to the client broke.', end: BROKEN })
      return
    }
    const message = `The client closed the connection (code ${code}).`
    this.#depart({ cause: 'client_left', message, end: { code, reason } })
  }

  /** What is not the client's doing shows when the socket is closed. */
  #onError(error: Error): void {
    const end = socketFault(error)
    if (end === undefined || !this.#open) return
    closeWebsocket(this.#websocket, end.code, end.reason)
    const message = `The connection to the client was closed (code ${end.code}): ${end.reason}`
    this.#depart({ cause: 'client_left', message, end })
  }

  #depart(left: Departure): void {
    if (!this.#open) return
    this.#free()
    this.#left = left
    this.#patience = setTimeout(() => this.#leave(left), this.#limits.lastMessagesMs)
    this.#steer()
  }

  #leave({ end, ...reason }: Departure): void {
    clearTimeout(this.#patience)
    this.#left = undefined
    this.#guest?.socketClosed(end.code, end.reason)
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
