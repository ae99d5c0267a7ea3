import type { BotRequest, BotResponse, GuestMessage } from '@botcli/protocol'
import { MediaError } from '../errors.ts'

/** How long a bot may take to answer a request, from when it was asked for. */
export const RESPONSE_LIMIT_MS = 30_000
/** A bot that does not serve requests so long after its start is taken not to. */
const SERVING_LIMIT_MS = 5000
/** Requests of one session that wait for their answers. */
const MAX_REQUESTS = 16

type ResponseWord = Extract<GuestMessage, { type: 'response' }>
type SendRequest = (id: number, request: BotRequest) => boolean

interface PendingRequest {
  readonly request: BotRequest
  readonly resolve: (response: BotResponse) => void
  readonly reject: (error: MediaError) => void
  readonly timer: NodeJS.Timeout
}

/** How long requests wait in each case. */
export interface GuestRequestLimits {
  readonly responseMs: number
  readonly servingMs: number
}

const LIMITS: GuestRequestLimits = { responseMs: RESPONSE_LIMIT_MS, servingMs: SERVING_LIMIT_MS }

/** The requests that a session's bot is to answer itself. They wait until it is there and says that it does. */
export class GuestRequests {
  readonly #limits: GuestRequestLimits
  readonly #pending = new Map<number, PendingRequest>()
  #send: SendRequest | undefined
  #serving: 'unknown' | 'yes' | 'no' = 'unknown'
  #patience: NodeJS.Timeout | undefined
  #nextId = 1
  #closed: string | undefined

  constructor(limits: Partial<GuestRequestLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Asks the bot. Rejects with a {@link MediaError}. */
  async ask(request: BotRequest): Promise<BotResponse> {
    if (this.#closed !== undefined) throw new MediaError('media_unavailable', this.#closed)
    if (this.#serving === 'no') throw notServed()
    if (this.#pending.size >= MAX_REQUESTS) {
      throw new MediaError('bot_busy', `The bot has ${MAX_REQUESTS} requests to answer already.`)
    }
    const id = this.#nextId
    this.#nextId += 1
    const { responseMs } = this.#limits
    return new Promise((resolve, reject) => {
      const late = new MediaError(
        'bot_timeout',
        `The bot did not answer within ${responseMs / 1000} seconds.`,
      )
      const timer = setTimeout(() => this.#take(id)?.reject(late), responseMs)
      this.#pending.set(id, { request, resolve, reject, timer })
      if (this.#serving === 'yes') this.#ask(id)
    })
  }

  /** The bot is there; whether it serves requests, it has to say soon. */
  join(send: SendRequest): void {
    this.#send = send
    this.#patience = setTimeout(() => {
      this.#serving = 'no'
      this.#rejectAll(notServed())
    }, this.#limits.servingMs)
  }

  /** The bot answers requests from now on. */
  serving(): void {
    clearTimeout(this.#patience)
    if (this.#closed !== undefined || this.#serving === 'yes') return
    this.#serving = 'yes'
    for (const id of [...this.#pending.keys()]) this.#ask(id)
  }

  /** An answer that nobody waits for any more comes too late. */
  answered({ id, response, error }: ResponseWord): void {
    const pending = this.#take(id)
    if (response !== undefined) pending?.resolve(response)
    else {
      const why = error === undefined ? '' : `: ${error.name}: ${error.message}`
      pending?.reject(new MediaError('bot_failed', `The bot failed to answer${why}`))
    }
  }

  /** Nobody answers any more. */
  close(message: string): void {
    this.#closed ??= message
    clearTimeout(this.#patience)
    this.#rejectAll(new MediaError('media_unavailable', message))
  }

  #ask(id: number): void {
    const pending = this.#pending.get(id)
    if (pending === undefined || this.#send?.(id, pending.request)) return
    this.#take(id)?.reject(new MediaError('bot_busy', 'The bot has not read what it was sent before.'))
  }

  #rejectAll(error: MediaError): void {
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(error)
  }

  #take(id: number): PendingRequest | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    clearTimeout(pending?.timer)
    return pending
  }
}

function notServed(): MediaError {
  return new MediaError('not_served', 'The bot of this session serves no requests of its own.')
}
