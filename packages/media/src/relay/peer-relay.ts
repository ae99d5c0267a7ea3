import type { GuestMessage, IceCandidate, SessionOutcome } from '@botcli/protocol'
import { MediaError } from '../errors.ts'
import type { GuestChannel, GuestFrame, GuestOver, GuestWord } from '../session/guest-channel.ts'
import type { MediaSessionEvents } from '../session/hosted-session.ts'
import { checkOffer } from '../webrtc/sdp-offer.ts'
import type { PeerEnd } from '../wire.ts'
import type { Relay, RelayCounters } from './relay.ts'

/** How long a bot may take to answer an offer: it may have to ask the network which addresses it has. */
export const ANSWER_LIMIT_MS = 10_000
/** A caller that begins anew has so long to be there again. */
const RECONNECT_LIMIT_MS = 30_000
/** Offers of one caller that wait for their answers. */
const MAX_OFFERS = 10

type PeerAnswer = Awaited<ReturnType<PeerEnd['answer']>>
type AnswerWord = Extract<GuestMessage, { type: 'answer' }>

interface PendingOffer {
  readonly sdp: string
  readonly restart: boolean
  readonly resolve: (answer: PeerAnswer) => void
  readonly reject: (error: MediaError) => void
  readonly timer: NodeJS.Timeout
}

/** How long a relay waits in each case. */
export interface PeerRelayLimits {
  readonly answerMs: number
  readonly reconnectMs: number
}

const LIMITS: PeerRelayLimits = { answerMs: ANSWER_LIMIT_MS, reconnectMs: RECONNECT_LIMIT_MS }

/** A caller over WebRTC whose peer is the bot itself. Only the handshake comes by here. */
export class PeerRelay implements Relay, PeerEnd {
  readonly counters: RelayCounters = { messagesIn: 0, messagesOut: 0, badMessages: 0 }
  readonly finished = Promise.resolve()
  readonly #events: MediaSessionEvents
  readonly #limits: PeerRelayLimits
  readonly #offers = new Map<number, PendingOffer>()
  #guest: GuestChannel | undefined
  #connected = false
  #reconnect: NodeJS.Timeout | undefined
  #nextId = 1
  #closed = false

  constructor(events: MediaSessionEvents, limits: Partial<PeerRelayLimits> = {}) {
    this.#events = events
    this.#limits = { ...LIMITS, ...limits }
  }

  /** Asks the bot; an offer that comes before the bot waits for it. One that is plainly of no use never reaches the bot. */
  async answer(sdp: string, restart: boolean): Promise<PeerAnswer> {
    if (this.#closed) throw unavailable('The session is over.')
    if (this.#offers.size >= MAX_OFFERS) throw unavailable('The bot has not answered the earlier offers.')
    checkOffer(sdp)
    const id = this.#nextId
    this.#nextId += 1
    const { answerMs } = this.#limits
    return new Promise((resolve, reject) => {
      const late = `The bot did not answer the offer within ${answerMs / 1000} seconds.`
      const timer = setTimeout(() => this.#take(id)?.reject(unavailable(late)), answerMs)
      this.#offers.set(id, { sdp, restart, resolve, reject, timer })
      if (this.#guest !== undefined) this.#offer(this.#guest, id)
    })
  }

  addCandidates(candidates: readonly IceCandidate[]): void {
    if (!this.#closed) this.#guest?.candidates(candidates)
  }

  join(guest: GuestChannel): void {
    this.#guest = guest
    for (const id of [...this.#offers.keys()]) this.#offer(guest, id)
  }

  word(word: GuestWord): boolean {
    if (word.type === 'answer') this.#onAnswer(word)
    else if (word.type === 'peer') this.#onState(word.state)
    else return false
    return true
  }

  frame(frame: GuestFrame): GuestOver | undefined {
    const message = `The bot's process sent a ${frame.kind} frame, but its caller's connection is its own.`
    return { cause: 'bot_failed', message }
  }

  /** The bot closes its connection itself, since it hears that the session is over. */
  close(outcome: SessionOutcome): void {
    this.#closed = true
    clearTimeout(this.#reconnect)
    for (const id of [...this.#offers.keys()]) this.#take(id)?.reject(unavailable(outcome.message))
  }

  #offer(guest: GuestChannel, id: number): void {
    const offer = this.#offers.get(id)
    if (offer === undefined || guest.offer(id, offer.sdp, offer.restart)) return
    this.#take(id)?.reject(new MediaError('invalid_offer', 'The offer is too large.'))
  }

  /** An answer that nobody waits for any more comes too late. */
  #onAnswer({ id, sdp, pcId, error }: AnswerWord): void {
    const offer = this.#take(id)
    if (sdp !== undefined && pcId !== undefined) {
      if (offer?.restart) this.#awaitPeer()
      offer?.resolve({ sdp, pcId })
    } else {
      const why = error === undefined ? '.' : `: ${error.message}`
      offer?.reject(new MediaError('invalid_offer', `The bot refused the offer${why}`))
    }
  }

  /** The bot has let go of its old connection for one that may never come about. */
  #awaitPeer(): void {
    const { reconnectMs } = this.#limits
    const message = `The client began anew, and did not connect within ${reconnectMs / 1000} seconds.`
    clearTimeout(this.#reconnect)
    this.#reconnect = setTimeout(() => this.#events.over({ cause: 'client_lost', message }), reconnectMs)
  }

  #onState(state: Extract<GuestMessage, { type: 'peer' }>['state']): void {
    if (this.#closed) return
    if (state === 'closed') {
      this.#events.over({ cause: 'client_left', message: 'The client closed its connection.' })
      return
    }
    if (state === 'lost') {
      this.#events.over({ cause: 'client_lost', message: 'The connection to the client broke.' })
      return
    }
    const connected = state === 'connected'
    if (connected) clearTimeout(this.#reconnect)
    if (connected === this.#connected) return
    this.#connected = connected
    if (connected) this.#events.connected()
    else this.#events.disconnected()
  }

  #take(id: number): PendingOffer | undefined {
    const offer = this.#offers.get(id)
    this.#offers.delete(id)
    clearTimeout(offer?.timer)
    return offer
  }
}

function unavailable(message: string): MediaError {
  return new MediaError('media_unavailable', message)
}
