import { type GuestPort, guestPort, type HostMessage, LINK_VERSION, type LinkStream } from '@botcli/protocol'
import type { BotFunction } from '../bot-function.ts'
import { BotError, isEndOfSession } from '../errors.ts'
import type { EndReason } from '../transport.ts'
import { linkError } from './link-error.ts'
import { GuestSession } from './session.ts'

/** How a guest came to its end. */
export interface GuestResult {
  readonly ok: boolean
  /** What to tell a person, when the link could not carry it. */
  readonly message?: string
}

/** What a guest is made of. */
export interface GuestOptions {
  readonly stream: LinkStream
  /** Loads the user's code; what it throws is told to the host. */
  readonly loadBot: () => Promise<BotFunction>
  readonly pid: number
  /** The language and its version, for people. */
  readonly runtime: string
  /** Called once, when nothing is left to do. */
  readonly onDone: (result: GuestResult) => void
  /** Called when it has waited for its session for a moment: nobody is kept waiting by what is done then. */
  readonly onIdle?: () => void
  /** Called when a session begins, before the bot. */
  readonly onStart?: () => void
  /** Called with what the user's code throws when it is too late to tell the host. */
  readonly onLateError?: (error: unknown) => void
  /** How long the host may take to close the link, and the bot to return after it was closed. Default 5000. */
  readonly graceMs?: number
}

/** A guest that runs. */
export interface Guest {
  /** The user's code broke outside of `bot`. */
  fail(error: unknown): void
  /** Ends the session; the bot has so long to return. */
  cancel(reason: EndReason, deadlineMs: number): void
}

/** A caller who is there already is brought sooner than this. */
const IDLE_MS = 200
/** How long the last words may take to leave. */
const FLUSH_MS = 500

/** Runs one bot for one session over a link, and then is done. */
export function runGuest(options: GuestOptions): Guest {
  return new LinkGuest(options)
}

class LinkGuest implements Guest {
  readonly #options: GuestOptions
  readonly #graceMs: number
  readonly #port: GuestPort
  readonly #streamClosed: Promise<void>
  #bot: BotFunction | undefined
  #session: GuestSession | undefined
  #running: Promise<void> = Promise.resolve()
  /** What was said at the end, once it was. */
  #ended: GuestResult | undefined
  #left = false
  #timer: NodeJS.Timeout | undefined
  #idle: NodeJS.Timeout | undefined

  constructor(options: GuestOptions) {
    this.#options = options
    this.#graceMs = options.graceMs ?? 5000
    this.#streamClosed = new Promise((resolve) => options.stream.on('close', resolve))
    this.#port = guestPort(options.stream, {
      message: (message) => this.#onMessage(message),
      frame: (frame) => {
        if (frame.kind === 'audioIn' || frame.kind === 'playback') this.#session?.frame(frame)
      },
      closed: (error) => this.#onClosed(error),
    })
    const { runtime, pid } = options
    this.#port.send({ type: 'hello', version: LINK_VERSION, runtime, pid })
    void this.#load()
  }

  fail(error: unknown): void {
    const over = this.#ended !== undefined || this.#left
    // A bot that only noticed that its session is over has stopped in a good way.
    if ((over || this.#session?.endReason !== undefined) && isEndOfSession(error)) return
    if (over) this.#options.onLateError?.(error)
    else if (this.#bot === undefined) this.#loadFailed(error)
    else this.#abandon(error)
  }

  cancel(reason: EndReason, deadlineMs: number): void {
    if (this.#ended !== undefined || this.#left) return
    if (this.#session === undefined) {
      this.#end({ ok: true })
      this.#leave()
      return
    }
    this.#arm(deadlineMs, () => {
      const message = `the bot did not return within ${deadlineMs} ms after its session was over (${reason.message}); watch transport.signal and return when it aborts`
      this.#abandon(new BotError('not_finished', message))
    })
    this.#session.end(reason)
  }

  async #load(): Promise<void> {
    try {
      const bot = await this.#options.loadBot()
      if (this.#left) return
      this.#bot = bot
      this.#port.send({ type: 'ready' })
      const { onIdle } = this.#options
      if (onIdle !== undefined) this.#idle = setTimeout(onIdle, IDLE_MS)
    } catch (error) {
      if (!this.#left) this.#loadFailed(error)
    }
  }

  #loadFailed(error: unknown): void {
    this.#ended = { ok: false }
    this.#port.send({ type: 'load-failed', error: linkError(error) })
    this.#leave()
  }

  #onMessage(message: HostMessage): void {
    switch (message.type) {
      case 'refused':
        this.#ended = { ok: false, message: `the host refused this guest: ${message.message}` }
        this.#leave()
        break
      case 'ping':
        this.#port.send({ type: 'pong', id: message.id, rss: process.memoryUsage.rss() })
        break
      case 'start':
        this.#start(message)
        break
      case 'cancel':
        this.cancel({ cause: message.cause, message: message.message }, message.deadlineMs)
        break
      default:
        this.#session?.message(message)
    }
  }

  #start({ start }: Extract<HostMessage, { type: 'start' }>): void {
    const bot = this.#bot
    if (bot === undefined || this.#session !== undefined || this.#ended !== undefined) {
      this.#ended ??= {
        ok: false,
        message: 'the host started a session in a guest that is not ready for one',
      }
      this.#leave()
      return
    }
    const session = new GuestSession(start, this.#port, {
      fail: (error) => this.fail(error),
      finish: () => this.#end({ ok: true }),
    })
    this.#session = session
    clearTimeout(this.#idle)
    this.#options.onStart?.()
    this.#running = this.#run(bot, session)
  }

  async #run(bot: BotFunction, session: GuestSession): Promise<void> {
    try {
      await bot(session.args)
    } catch (error) {
      this.fail(error)
    }
    if (this.#ended === undefined) void session.drained().then(() => this.#end({ ok: true }))
  }

  /** Ends without the bot, whose code is broken or does not come back. */
  #abandon(error: unknown): void {
    this.#running = Promise.resolve()
    this.#end({ ok: false }, error)
  }

  /** Says how it ended; the host closes the link then. */
  #end(result: GuestResult, error?: unknown): void {
    if (this.#ended !== undefined || this.#left) return
    this.#ended = result
    if (result.ok) this.#port.send({ type: 'end', outcome: 'returned' })
    else this.#port.send({ type: 'end', outcome: 'failed', error: linkError(error) })
    this.#arm(this.#graceMs, () => this.#leave())
    this.#session?.end(
      result.ok
        ? { cause: 'bot_returned', message: 'the bot is done' }
        : { cause: 'bot_failed', message: 'the bot failed' },
    )
  }

  #onClosed(error: Error | undefined): void {
    if (this.#ended === undefined && (this.#session !== undefined || error !== undefined)) {
      const message = error
        ? `the link broke: ${error.message}`
        : 'the link closed before the session was over'
      this.#ended = { ok: false, message }
      this.#session?.end({ cause: 'media_failed', message })
    }
    this.#leave()
  }

  /** Lets go of the link; a bot that is still at work may finish, unless it has failed. */
  #leave(): void {
    if (this.#left) return
    this.#left = true
    clearTimeout(this.#timer)
    clearTimeout(this.#idle)
    this.#port.close()
    const result = this.#ended ?? { ok: true }
    const quiet = Promise.all([within(this.#running, this.#graceMs), within(this.#streamClosed, FLUSH_MS)])
    void quiet.then(() => this.#options.onDone(result))
  }

  #arm(ms: number, action: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(action, ms)
  }
}

/** Resolves when the work does, and after so many milliseconds in any case. */
function within(work: Promise<void>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    void work.then(() => {
      clearTimeout(timer)
      resolve()
    })
  })
}
