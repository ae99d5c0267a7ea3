import { type Duplex, duplexPair } from 'node:stream'
import { botOf, runGuest } from '@botcli/bot/guest'
import { type GuestMessage, hostPort } from '@botcli/protocol'
import { RunnerError } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import type { Guest, GuestExit, JavaScriptCode } from './guest.ts'

/** A guest in the runner's own process, for breakpoints. It shares everything with the runner, its end included. */
export class InlineGuest implements Guest {
  readonly version: number
  /** Bots in JavaScript never do. */
  readonly passThrough = false
  readonly exited: Promise<GuestExit>
  readonly #link: Duplex
  #release: () => void = () => {}
  #settleLoad: (error?: RunnerError) => void = () => {}

  private constructor(code: JavaScriptCode) {
    this.version = code.version
    const [ours, theirs] = duplexPair()
    this.#link = ours
    // In memory only an end reaches the other side, a destruction does not.
    ours.once('close', () => theirs.destroy())
    const port = hostPort(ours, {
      message: (message) => this.#onMessage(message),
      frame: () => {},
      closed: () => {},
    })
    this.#release = () => {
      ours.pause()
      port.detach()
    }
    let done: (exit: GuestExit) => void = () => {}
    this.exited = new Promise((resolve) => {
      done = resolve
    })
    runGuest({
      stream: theirs,
      loadBot: async () => botOf(await import(code.url)),
      pid: process.pid,
      runtime: `node ${process.versions.node}`,
      onDone: ({ ok, message }) => {
        done({ how: message ?? (ok ? 'ended' : 'failed'), outOfMemory: false })
      },
    })
  }

  /** Loads the user's code into this process, for as long as somebody wants it: there may be a breakpoint in it. */
  static async start(code: JavaScriptCode, unwanted: AbortSignal): Promise<InlineGuest> {
    const guest = new InlineGuest(code)
    const error = await new Promise<RunnerError | undefined>((resolve) => {
      guest.#settleLoad = resolve
      const abort = () => resolve(new RunnerError('bot_load_failed', 'The runner is shutting down.'))
      unwanted.addEventListener('abort', abort, { once: true })
      if (unwanted.aborted) abort()
    })
    if (error === undefined) return guest
    guest.#link.destroy()
    throw error
  }

  release(_logger: Logger): Duplex {
    this.#release()
    return this.#link
  }

  async stop(graceMs: number): Promise<void> {
    const timer = setTimeout(() => this.#link.destroy(), graceMs)
    await this.exited
    clearTimeout(timer)
  }

  #onMessage(message: GuestMessage): void {
    if (message.type === 'ready') this.#settleLoad()
    if (message.type !== 'load-failed') return
    const { name, message: text, stack } = message.error
    this.#settleLoad(
      new RunnerError('bot_load_failed', `The bot could not be loaded: ${name}: ${text}`, stack),
    )
  }
}
