import { CLOSE_CODES, closeReason, type SessionOutcome, type TransportId } from '@botcli/protocol'
import type { WebSocket } from 'ws'
import { MediaError } from '../errors.ts'
import type { CarrierDialect, CarrierStart } from './dialect.ts'
import { DIALECTS } from './dialects.ts'

const LIMIT_MS = 5000
/** Every carrier has begun its call by its second message. */
const MAX_MESSAGES = 10
/** What arrives while somebody takes over; it takes no longer than one turn of the event loop. */
const MAX_EARLY = 1000
const REFUSED_CODE = 1008
/** A carrier that is refused gets this long to answer before its socket is cut. */
const CLOSE_PATIENCE_MS = 2000

/** A message as it came: JSON, or nothing for what can be none. */
export interface CarrierMessage {
  readonly json: unknown
  readonly arrivedAt: number
}

/** A call whose carrier is known. */
export interface Greeting {
  readonly dialect: CarrierDialect
  readonly start: CarrierStart
  /** Everything but the start that came so far. From now on the taker listens. */
  readonly takeOver: () => readonly CarrierMessage[]
}

/** What recognising needs. */
export interface RecogniseOptions {
  /** The carriers that may call. */
  readonly served: readonly TransportId[]
  readonly clock: () => number
  /** Ends the wait; its reason is the outcome of the session. */
  readonly signal: AbortSignal
  readonly limitMs?: number
}

/** Finds out who calls, from the first messages. Rejects after the socket was closed with the reason. */
export function recognise(websocket: WebSocket, options: RecogniseOptions): Promise<Greeting> {
  const { served, clock, signal, limitMs = LIMIT_MS } = options
  const early: CarrierMessage[] = []
  websocket.binaryType = 'nodebuffer'
  // A close follows each error, and it is the close that says what to do.
  websocket.on('error', () => {})
  return new Promise((resolve, reject) => {
    let found = false
    const free = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      websocket.off('close', onClose)
    }
    const takeOver = () => {
      websocket.off('message', onMessage)
      return early
    }
    const fail = (reason: string) => {
      free()
      takeOver()
      reject(new MediaError('invalid_call', reason))
    }
    const refuse = (reason: string, code = REFUSED_CODE) => {
      fail(reason)
      turnAway(websocket, code, reason)
    }
    const onClose = () => fail('The caller left before its call began.')
    const onAbort = () => {
      const { cause, message }: SessionOutcome = signal.reason
      refuse(message, CLOSE_CODES[cause])
    }
    const onMessage = (data: Buffer, isBinary: boolean) => {
      const json = isBinary ? undefined : parseJson(data)
      const event = found ? undefined : firstEvent(json)
      if (event?.kind === 'refused') refuse(event.reason)
      else if (event?.kind === 'started' && !served.includes(event.dialect.transport)) {
        refuse(notServed(event.dialect.transport, served))
      } else if (event?.kind === 'started') {
        found = true
        free()
        resolve({ dialect: event.dialect, start: event.start, takeOver })
      } else if (early.length < MAX_EARLY) {
        early.push({ json, arrivedAt: clock() })
        if (!found && early.length >= MAX_MESSAGES) {
          refuse(`None of the first ${MAX_MESSAGES} messages begins a call of a carrier that is known here.`)
        }
      }
    }
    const timer = setTimeout(() => {
      refuse(`No carrier began a call within ${limitMs / 1000} seconds.`)
    }, limitMs)
    signal.addEventListener('abort', onAbort)
    websocket.on('close', onClose)
    websocket.on('message', onMessage)
    if (signal.aborted) onAbort()
  })
}

function notServed(transport: TransportId, served: readonly TransportId[]): string {
  const others = served.length === 0 ? 'no carrier' : `only ${served.join(', ')}`
  return `This is a call of ${transport}, and ${others} is served here.`
}

/** JSON of a text message, or nothing. */
export function parseJson(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'))
  } catch {
    return undefined
  }
}

type FirstEvent =
  | { readonly kind: 'started'; readonly dialect: CarrierDialect; readonly start: CarrierStart }
  | { readonly kind: 'refused'; readonly reason: string }

function firstEvent(json: unknown): FirstEvent | undefined {
  for (const dialect of DIALECTS) {
    const event = dialect.read(json)
    if (event.kind === 'started') return { kind: 'started', dialect, start: event.start }
    if (event.kind === 'refused') return { kind: 'refused', reason: event.reason }
  }
  return undefined
}

function turnAway(websocket: WebSocket, code: number, reason: string): void {
  websocket.close(code, closeReason(reason))
  const cut = setTimeout(() => websocket.terminate(), CLOSE_PATIENCE_MS)
  websocket.once('close', () => clearTimeout(cut))
}
