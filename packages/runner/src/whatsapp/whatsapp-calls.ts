import type { WhatsappBody } from '@botcli/protocol'
import type { Logger } from '../log/logger.ts'
import type { WhatsappApi } from './whatsapp-api.ts'
import type { WhatsappEvent } from './whatsapp-webhook.ts'

/** Calls that can run at once, and calls that are remembered so that none is taken twice. */
const MAX_CALLS = 500
const MAX_REMEMBERED = 2000

/** A session that answers a call. */
export interface AnsweredCall {
  readonly sdp: string
  /** Ends the session; calling it for one that is over does nothing. */
  end(cause: 'client_left' | 'media_failed', message: string): Promise<void>
}

/** Makes a session with a bot for an offer. `onEnded` is to be called once when that session is over. */
export type AnswerCall = (sdp: string, body: WhatsappBody, onEnded: () => void) => Promise<AnsweredCall>

/** What calls need. */
export interface WhatsappCallsOptions {
  readonly api: WhatsappApi
  readonly answer: AnswerCall
  readonly logger: Logger
}

interface Call {
  readonly id: string
  readonly caller: string
  session: AnsweredCall | undefined
  /** Whether it is still being taken; only then does the one who takes it tell the provider of its end. */
  taking: boolean
  /** Whether the provider was told that we take it. */
  accepted: boolean
  endedBy: 'caller' | 'us' | undefined
}

/** All calls of the messaging provider: each is taken once, and ended once, whoever ends it. */
export class WhatsappCalls {
  readonly #options: WhatsappCallsOptions
  readonly #calls = new Map<string, Call>()
  /** Ids that were seen, the oldest first. The provider repeats itself when it is in doubt. */
  readonly #seen = new Set<string>()
  readonly #work = new Set<Promise<void>>()
  #closing = false

  constructor(options: WhatsappCallsOptions) {
    this.#options = options
  }

  /** How many calls are not over. */
  get size(): number {
    return this.#calls.size
  }

  /** Takes an event and returns at once: the provider does not wait for a bot. */
  handle(event: WhatsappEvent): void {
    if (event.kind === 'terminate') {
      this.#remember(event.callId)
      const call = this.#calls.get(event.callId)
      if (call !== undefined) this.#track(this.#leave(call))
      return
    }
    if (this.#closing || !this.#remember(event.callId)) return
    if (this.#calls.size >= MAX_CALLS) {
      this.#options.logger.warn('a WhatsApp call was rejected because there are too many')
      this.#track(this.#tell('reject', event.callId))
      return
    }
    const { id, from } = event.body
    const call: Call = {
      id,
      caller: from,
      session: undefined,
      taking: true,
      accepted: false,
      endedBy: undefined,
    }
    this.#calls.set(id, call)
    this.#track(this.#take(call, event.sdp, event.body))
  }

  /** Waits until everything that was begun is done. */
  async settled(): Promise<void> {
    while (this.#work.size > 0) await Promise.all(this.#work)
  }

  /** Takes no more calls, and ends the ones that run. */
  async close(): Promise<void> {
    this.#closing = true
    for (const call of this.#calls.values()) this.#track(this.#hangUp(call))
    await this.settled()
  }

  async #take(call: Call, offer: string, body: WhatsappBody): Promise<void> {
    try {
      call.session = await this.#options.answer(offer, body, () => this.#track(this.#hangUp(call)))
      await this.#accept(call, onlySha256(call.session.sdp))
    } catch (error) {
      // A call that is over cannot be taken, which is no news.
      if (this.#finish(call, 'us')) {
        const reason = error instanceof Error ? error.message : String(error)
        this.#options.logger.error(`a WhatsApp call could not be taken: ${reason}`)
      }
    }
    call.taking = false
    if (call.endedBy === 'us') {
      await this.#sayGoodbye(call)
      await call.session?.end('media_failed', 'The call could not be taken.')
    } else if (call.endedBy === 'caller') {
      await call.session?.end('client_left', 'The caller hung up.')
    }
  }

  /** Stops where the call ends. */
  async #accept(call: Call, sdp: string): Promise<void> {
    const { api } = this.#options
    if (call.endedBy === undefined) await api.preAccept(call.id, call.caller, sdp)
    if (call.endedBy !== undefined) return
    // Whatever becomes of the request, the provider may take it for a yes.
    call.accepted = true
    await api.accept(call.id, call.caller, sdp)
  }

  /** The caller ended it. */
  async #leave(call: Call): Promise<void> {
    if (this.#finish(call, 'caller') && !call.taking) {
      await call.session?.end('client_left', 'The caller hung up.')
    }
  }

  /** We end it. A request that is under way comes first, or it could undo this one. */
  async #hangUp(call: Call): Promise<void> {
    if (this.#finish(call, 'us') && !call.taking) await this.#sayGoodbye(call)
  }

  #sayGoodbye(call: Call): Promise<void> {
    return this.#tell(call.accepted ? 'terminate' : 'reject', call.id)
  }

  async #tell(what: 'terminate' | 'reject', callId: string): Promise<void> {
    try {
      await this.#options.api[what](callId)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#options.logger.error(`a WhatsApp call was not hung up: ${reason}`)
    }
  }

  /** False when it was over before. */
  #finish(call: Call, by: 'caller' | 'us'): boolean {
    if (call.endedBy !== undefined) return false
    call.endedBy = by
    this.#calls.delete(call.id)
    return true
  }

  /** False when it is known already. */
  #remember(callId: string): boolean {
    if (this.#seen.has(callId)) return false
    this.#seen.add(callId)
    const oldest = this.#seen.values().next().value
    if (this.#seen.size > MAX_REMEMBERED && oldest !== undefined) this.#seen.delete(oldest)
    return true
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => this.#options.logger.error('a WhatsApp call failed', { error }))
      .finally(() => this.#work.delete(tracked))
    this.#work.add(tracked)
  }
}

/** The provider understands no other fingerprints. */
export function onlySha256(sdp: string): string {
  return sdp.replace(/^a=fingerprint:(?!sha-256 )[^\r\n]*\r?\n/gim, '')
}
