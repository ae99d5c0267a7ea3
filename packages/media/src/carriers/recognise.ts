import { isUtf8 } from 'node:buffer'
import { CLOSE_CODES, evalConnectSchema, type SessionOutcome, type TransportId } from '@botcli/protocol'
import type { WebSocket } from 'ws'
import { MediaError } from '../errors.ts'
import { closeWebsocket } from '../websocket/close-websocket.ts'
import type { CarrierDialect, CarrierStart } from './dialect.ts'
import { DIALECTS } from './dialects.ts'

const LIMIT_MS = 5000
/** Every carrier has begun its call by its second message. */
const MAX_MESSAGES = 10
/** What arrives while somebody takes over comes in one read of the socket, which cannot hold more than these. */
const MAX_EARLY = 16_384
const REFUSED_CODE = 1008
const EVALS_REFUSED = 'Evals are let in only from this machine, or by a runner that was started with --evals.'
const EVAL_TOO_LATE = 'An eval says so in its first message, as text.'
const NOT_UNDERSTOOD = 'Before the call began there was a message that no carrier sends.'

/** A message as it is understood: JSON, or nothing for what can be none. */
export interface CarrierMessage {
  readonly json: unknown
  readonly arrivedAt: number
}

/** A message as it came. */
export interface EarlyMessage extends CarrierMessage {
  readonly data: Buffer
  readonly isBinary: boolean
}

interface Arrival {
  /** What came until it was known who calls. The last one told. */
  readonly opening: readonly EarlyMessage[]
  /** What has come since. From now on the taker listens. */
  readonly takeOver: () => readonly EarlyMessage[]
}

/** A call whose carrier is known. */
export interface CallGreeting extends Arrival {
  readonly kind: 'call'
  readonly dialect: CarrierDialect
  readonly start: CarrierStart
}

/** An eval, which is for the bot alone to understand. */
export interface EvalGreeting extends Arrival {
  readonly kind: 'eval'
}

/** What recognising needs. */
export interface RecogniseOptions {
  /** The carriers that may call. */
  readonly served: readonly TransportId[]
  /** Why no other carrier is served, where that is not a matter of the carrier. */
  readonly whyOnly?: string | undefined
  /** Whether evals are let in. */
  readonly evals: boolean
  /**
   * Whether the bot reads all of this once more, by itself. What we do not understand it might understand in another way, so then
   * nothing may come in that we do not.
   */
  readonly passThrough: boolean
  readonly clock: () => number
  /** Ends the wait; its reason is the outcome of the session. */
  readonly signal: AbortSignal
  readonly limitMs?: number
}

/** Finds out who calls, from the first messages. Rejects after the socket was closed with the reason. */
export function recognise(
  websocket: WebSocket,
  options: RecogniseOptions,
): Promise<CallGreeting | EvalGreeting> {
  const { clock, signal, limitMs = LIMIT_MS } = options
  const opening: EarlyMessage[] = []
  const later: EarlyMessage[] = []
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
      return later
    }
    const fail = (reason: string) => {
      free()
      takeOver()
      reject(new MediaError('invalid_call', reason))
    }
    const refuse = (reason: string, code = REFUSED_CODE) => {
      fail(reason)
      closeWebsocket(websocket, code, reason)
    }
    const onClose = () => fail('The caller left before its call began.')
    const onAbort = () => {
      const { cause, message }: SessionOutcome = signal.reason
      refuse(message, CLOSE_CODES[cause])
    }
    const accept = (greeting: Identity) => {
      found = true
      free()
      resolve({ ...greeting, opening, takeOver })
    }
    const onMessage = (data: Buffer, isBinary: boolean) => {
      const json = isBinary ? undefined : parseJson(data)
      const message = { data, isBinary, json, arrivedAt: clock() }
      if (found) {
        if (later.length < MAX_EARLY) later.push(message)
        return
      }
      opening.push(message)
      const isText = !isBinary && isUtf8(data)
      const who = options.passThrough && !isText ? NONSENSE : identify(json, isText && opening.length === 1)
      const problem = refusalOf(who, options)
      if (problem !== undefined) refuse(problem)
      else if (who.kind === 'eval' || who.kind === 'call') accept(who)
      else if (opening.length >= MAX_MESSAGES) {
        refuse(`None of the first ${MAX_MESSAGES} messages begins a call of a carrier that is known here.`)
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

/** JSON of a text message, or nothing. */
export function parseJson(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString('utf8'))
  } catch {
    return undefined
  }
}

type Identity =
  | { readonly kind: 'call'; readonly dialect: CarrierDialect; readonly start: CarrierStart }
  | { readonly kind: 'eval' }

type Recognised =
  | Identity
  | { readonly kind: 'refused'; readonly reason: string }
  /** What a carrier may say before its call begins. */
  | { readonly kind: 'greeting' }
  | { readonly kind: 'nonsense' }

const NONSENSE: Recognised = { kind: 'nonsense' }

function identify(json: unknown, mayBeEval: boolean): Recognised {
  // Whoever else reads this may look for it in any message, so it is never overlooked here.
  if (evalConnectSchema.safeParse(json).success) {
    return mayBeEval ? { kind: 'eval' } : { kind: 'refused', reason: EVAL_TOO_LATE }
  }
  const events = DIALECTS.map((dialect) => ({ dialect, event: dialect.read(json) }))
  for (const { dialect, event } of events) {
    if (event.kind === 'started') return { kind: 'call', dialect, start: event.start }
    if (event.kind === 'refused') return { kind: 'refused', reason: event.reason }
  }
  const isKnown = events.some(({ event: { kind } }) => kind !== 'unknown' && kind !== 'bad')
  return isKnown && !hasStart(json) ? { kind: 'greeting' } : NONSENSE
}

/** Others take whatever has this for the start of a call. */
function hasStart(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'start' in json
}

function refusalOf(who: Recognised, options: RecogniseOptions): string | undefined {
  const { served, whyOnly, evals, passThrough } = options
  if (who.kind === 'refused') return who.reason
  if (who.kind === 'greeting') return undefined
  if (who.kind === 'nonsense') return passThrough ? NOT_UNDERSTOOD : undefined
  if (who.kind === 'eval') return evals ? undefined : EVALS_REFUSED
  const { transport } = who.dialect
  if (served.includes(transport)) return undefined
  if (whyOnly !== undefined) return whyOnly
  const others = served.length === 0 ? 'no carrier' : `only ${served.join(', ')}`
  return `This is a call of ${transport}, and ${others} is served here.`
}
