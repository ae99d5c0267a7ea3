import type { GuestOver, HostedSessionEvents, MediaEnd, MediaHost, MediaReport } from '@botcli/media'
import {
  type BotStart,
  type EndCause,
  outcomeOf,
  type SessionOutcome,
  type SessionState,
  type SessionTransport,
  type SessionView,
} from '@botcli/protocol'
import type { Guest } from '../guests/guest.ts'
import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'

/** How long a session waits for its caller: after `/start`, and again after the handshake began. */
const WAIT_LIMIT_MS = 60_000
const HANDSHAKE_LIMIT_MS = 30_000
/** A guest that vanished is given this long to say how. */
const EXIT_NOTICE_MS = 1000
/** After the link is closed a guest only has to exit. */
const EXIT_GRACE_MS = 1000
/** How long a bot may take to finish when its session is over. */
const BOT_DEADLINE_MS = 3000

/** What a bot is told about its caller. */
export type BotDetails = Partial<BotStart> & Pick<BotStart, 'transport'>

/** What a session is made of. */
export interface SessionOptions {
  readonly id: string
  /** Not known yet for a caller at the door of all carriers. */
  readonly transport: SessionTransport | undefined
  readonly body: Readonly<Record<string, unknown>>
  readonly maxDurationMs: number
  readonly logger: Logger
  /** What to do about a bot that needs more memory, in a sentence. */
  readonly memoryHint?: string
  /** Called when its caller is there for the first time. */
  readonly onConnected?: (session: Session) => void
  /** Called once, when nothing of the session is left. */
  readonly onEnded: (session: Session) => void
}

/** One caller with one bot, from the first request to the recorded outcome. */
export class Session {
  readonly id: string
  readonly body: Readonly<Record<string, unknown>>
  readonly logger: Logger
  /** Resolves when nothing of the session is left. */
  readonly over: Promise<void>
  readonly #options: SessionOptions
  readonly #createdAt = new Date()
  #transport: SessionTransport | undefined
  #state: SessionState = 'waiting'
  #connectedAt: Date | undefined
  #endedAt: Date | undefined
  #outcome: SessionOutcome | undefined
  #report: MediaReport | undefined
  #host: MediaHost | undefined
  #guest: Guest | undefined
  #timer: NodeJS.Timeout | undefined
  #limit: NodeJS.Timeout | undefined
  #ending: Promise<void> | undefined
  #worthTelling = true
  #farewell: (() => Promise<unknown>) | undefined
  #settle: () => void = () => {}

  constructor(options: SessionOptions) {
    this.id = options.id
    this.#transport = options.transport
    this.body = options.body
    this.logger = options.logger
    this.#options = options
    this.over = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#waitForCaller(WAIT_LIMIT_MS, 'No caller came.')
  }

  /** How the caller reaches the bot, once that is known. */
  get transport(): SessionTransport | undefined {
    return this.#transport
  }

  get state(): SessionState {
    return this.#state
  }

  /** Where its wire is, while it has one. */
  get host(): MediaHost | undefined {
    return this.#host
  }

  /** What a wire's host is to tell. */
  readonly events: HostedSessionEvents = {
    connected: () => this.#onConnected(),
    disconnected: () => this.logger.debug('the caller is away for now'),
    over: (reason) => void this.#onOver(reason),
    report: (report) => {
      this.#report = report
    },
  }

  /** The caller is here: from now on nobody else can have this session. */
  claim(): void {
    if (this.#state !== 'waiting') {
      throw new RequestError('session_busy', 'This session has its caller already; start another one.')
    }
    this.#state = 'connecting'
  }

  /** Where the caller's wire is going to be. Whoever ends the session from now on closes the wire, too. */
  place(host: MediaHost): void {
    if (this.#ending !== undefined) throw endedEarly()
    this.#host = host
  }

  /** The caller's attempt came to nothing before there was a bot; the session waits again. */
  revert(): void {
    if (this.#ending !== undefined) return
    this.#state = 'waiting'
    this.#host = undefined
    this.#connectedAt = undefined
    this.#waitForCaller(WAIT_LIMIT_MS, 'No caller came.')
  }

  /** Now it is known how the caller came. */
  identify(transport: SessionTransport): void {
    this.#transport = transport
  }

  /** What is to be done once the caller's wire is closed, such as hanging up. The end waits for it. */
  sayFarewell(farewell: () => Promise<unknown>): void {
    if (this.#ending === undefined) this.#farewell = farewell
    else this.#ending = this.#ending.then(async () => void (await farewell()))
  }

  /** Ends what never was more than an attempt, which is no news for the log. */
  abandon(why: string): Promise<void> {
    this.#worthTelling = false
    return this.end('never_connected', why)
  }

  /** Gives the session its bot, which is called when `called` resolves. */
  join(guest: Guest, details: BotDetails, called: Promise<unknown> = Promise.resolve()): void {
    const { id, body } = this
    const { transport } = details
    if (this.#ending !== undefined) {
      void guest.stop(0)
      throw endedEarly()
    }
    this.#guest = guest
    this.#limit = setTimeout(() => {
      const seconds = Math.round(this.#options.maxDurationMs / 1000)
      void this.end('time_limit', `The session reached its time limit of ${seconds} seconds.`)
    }, this.#options.maxDurationMs)
    if (this.#connectedAt === undefined) {
      this.#waitForCaller(HANDSHAKE_LIMIT_MS, 'The caller did not finish connecting.')
    }
    guest.exited.then(() => this.#onGuestExit())
    const link = guest.release(this.logger)
    // Not waited for: the caller can finish its handshake meanwhile.
    this.#host?.join(id, link, { sessionId: id, body, ...details }).then(
      () =>
        called.then(
          () => this.logger.info('bot started', { transport }),
          // Whoever waits for it tells.
          () => {},
        ),
      // Nobody else would notice that this caller has no bot.
      (error: Error) =>
        this.end('media_failed', `The bot could not be joined to its caller: ${error.message}`),
    )
  }

  /** The one way in which a session ends. The first cause stays; everyone may wait for the same end. */
  end(cause: EndCause, message: string, deadlineMs = BOT_DEADLINE_MS): Promise<void> {
    const hint = cause === 'bot_out_of_memory' ? this.#options.memoryHint : undefined
    const words = hint === undefined ? message : `${message} ${hint}`
    this.#ending ??= this.#end(outcomeOf(cause, words), deadlineMs)
    return this.#ending
  }

  view(): SessionView {
    return {
      sessionId: this.id,
      ...(this.#transport && { transport: this.#transport }),
      state: this.#state,
      createdAt: this.#createdAt.toISOString(),
      ...(this.#connectedAt && { connectedAt: this.#connectedAt.toISOString() }),
      ...(this.#endedAt && { endedAt: this.#endedAt.toISOString() }),
      ...(this.#outcome && { outcome: this.#outcome }),
      ...this.#report,
    }
  }

  async #end(outcome: SessionOutcome, deadlineMs: number): Promise<void> {
    this.#state = 'ending'
    this.#outcome = outcome
    clearTimeout(this.#timer)
    clearTimeout(this.#limit)
    const level = outcome.result === 'ok' ? 'info' : 'error'
    this.logger[this.#worthTelling ? level : 'debug'](`session over: ${outcome.message}`, {
      cause: outcome.cause,
    })
    const end = await this.#host?.close(this.id, outcome, deadlineMs)
    if (end !== undefined) this.#onMediaEnd(end)
    await Promise.all([this.#guest?.stop(EXIT_GRACE_MS), this.#farewell?.()])
    this.#state = 'ended'
    this.#endedAt = new Date()
    this.#host = undefined
    this.#guest = undefined
    this.#options.onEnded(this)
    this.#settle()
  }

  #waitForCaller(limitMs: number, message: string): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => void this.end('never_connected', message), limitMs)
  }

  #onConnected(): void {
    clearTimeout(this.#timer)
    if (this.#ending !== undefined) return
    this.#state = 'active'
    if (this.#connectedAt !== undefined) return
    // In a room the bot meets its callers by itself, and nobody here sees them.
    if (this.#transport !== 'room') this.logger.info('caller connected')
    this.#connectedAt = new Date()
    this.#options.onConnected?.(this)
  }

  async #onOver({ cause, message, detail }: GuestOver): Promise<void> {
    if (detail !== undefined && this.#ending === undefined) this.logger.error(detail, { from: 'bot' })
    if (cause === 'bot_exited' && this.#guest !== undefined) await this.#endWithExit(this.#guest, message)
    else await this.end(cause, message)
  }

  #onMediaEnd({ lateFault, ...report }: MediaEnd): void {
    this.#report = report
    if (lateFault === undefined) return
    // It changes nothing for the session, which was over before; but its user has to know.
    if (lateFault.detail !== undefined) this.logger.warn(lateFault.detail, { from: 'bot' })
    this.logger.warn(`after the session was over: ${lateFault.message}`)
  }

  /** The link tells more than the exit does, so it may speak first. */
  #onGuestExit(): void {
    const guest = this.#guest
    if (guest === undefined || this.#ending !== undefined) return
    setTimeout(() => void this.#endWithExit(guest, "The bot's process ended."), EXIT_NOTICE_MS).unref()
  }

  async #endWithExit(guest: Guest, message: string): Promise<void> {
    const late = new Promise<undefined>((resolve) => {
      setTimeout(() => resolve(undefined), EXIT_NOTICE_MS).unref()
    })
    const exit = await Promise.race([guest.exited, late])
    if (exit === undefined) await this.end('bot_exited', message)
    else if (exit.outOfMemory) await this.end('bot_out_of_memory', "The bot's process ran out of memory.")
    else await this.end('bot_exited', `The bot's process ${exit.how} before the bot was done.`)
  }
}

function endedEarly(): RequestError {
  return new RequestError('session_not_found', 'The session ended before its bot was there.')
}
