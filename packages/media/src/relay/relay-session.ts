import type { BotStart, LinkStream, SessionOutcome } from '@botcli/protocol'
import { GuestChannel, type GuestOver } from '../session/guest-channel.ts'
import { GuestRequests } from '../session/guest-requests.ts'
import type { HostedSession, MediaEnd, MediaReport, MediaSessionEvents } from '../session/hosted-session.ts'
import type { CreateRelay, Relay } from './relay.ts'

/** What a session is made of. */
export interface RelaySessionOptions<R extends Relay> {
  readonly createRelay: CreateRelay<R>
  readonly events: MediaSessionEvents
  readonly clock: () => number
  readonly maxMemoryBytes: number
}

/** One caller with a bot that speaks the caller's wire itself: we only look after both. */
export class RelaySession<R extends Relay = Relay> implements HostedSession {
  readonly relay: R
  readonly requests = new GuestRequests()
  readonly #options: RelaySessionOptions<R>
  #guest: GuestChannel | undefined
  #over = false

  constructor(options: RelaySessionOptions<R>) {
    this.#options = options
    const { events } = options
    this.relay = options.createRelay({
      connected: () => events.connected(),
      disconnected: () => events.disconnected(),
      over: (reason) => this.#finish(reason),
    })
  }

  join(link: LinkStream, start: BotStart): void {
    const { clock, maxMemoryBytes } = this.#options
    const guest = new GuestChannel({
      link,
      clock,
      maxMemoryBytes,
      requests: this.requests,
      events: {
        word: (word) => this.relay.word(word),
        frame: (frame) => this.relay.frame(frame),
        // Application messages travel inside of the wire; a word of this kind has no meaning here.
        messageLeftOut: () => {},
        over: (reason) => this.#finish(reason),
      },
    })
    this.#guest = guest
    guest.start(start)
    this.relay.join(guest)
  }

  beat(): void {
    this.#guest?.beat()
  }

  report(): MediaReport {
    const nothing = { audioInMs: 0, audioOutMs: 0, audioInDroppedMs: 0, audioInConcealedMs: 0 }
    const dropped = { messagesInDropped: 0, messagesOutDropped: 0 }
    return { counters: { ...nothing, ...dropped, ...this.relay.counters }, latency: [] }
  }

  async close(outcome: SessionOutcome, deadlineMs: number): Promise<MediaEnd> {
    this.#over = true
    this.relay.close(outcome)
    this.requests.close(outcome.message)
    const [lateFault] = await Promise.all([this.#guest?.close(outcome, deadlineMs), this.relay.finished])
    return { ...this.report(), ...(lateFault && { lateFault }) }
  }

  #finish(reason: GuestOver): void {
    if (this.#over) return
    this.#over = true
    this.#options.events.over(reason)
  }
}
