import type { Duplex } from 'node:stream'
import { type GuestMessage, type HostPort, hostPort, LINK_VERSION } from '@botcli/protocol'
import { RunnerError } from '../errors.ts'
import type { GuestExit } from './guest.ts'

/** What ends the wait for a guest that loads, besides its own word. */
export interface LoadLimits {
  readonly exited: Promise<GuestExit>
  readonly limitMs: number
  /** Aborted when nobody waits for the guest any more. */
  readonly unwanted?: AbortSignal | undefined
}

/** The runner's end of a link, as long as the guest loads and waits. */
export class GuestLink {
  readonly #stream: Duplex
  readonly #port: HostPort
  readonly #word: Promise<RunnerError | undefined>
  #settle: (error?: RunnerError) => void = () => {}
  #passThrough = false

  constructor(stream: Duplex) {
    this.#stream = stream
    this.#word = new Promise((resolve) => {
      this.#settle = resolve
    })
    this.#port = hostPort(stream, {
      message: (message) => this.#onMessage(message),
      frame: () => {},
      closed: (error) => {
        if (error !== undefined) this.#settle(failed(`The bot's process broke its link: ${error.message}`))
      },
    })
    // A guest that dies while its link is handed over is no news; without a listener it would end the runner.
    stream.on('error', () => {})
  }

  /** Whether the bot speaks the wires of its callers itself; known once it is loaded. */
  get passThrough(): boolean {
    return this.#passThrough
  }

  /** What kept the guest from loading the user's code, if anything did. */
  async loaded({ exited, limitMs, unwanted }: LoadLimits): Promise<RunnerError | undefined> {
    let free = () => {}
    const cut = new Promise<RunnerError>((resolve) => {
      const late = () => resolve(failed(`The bot was not loaded after ${limitMs / 1000} seconds.`))
      const abort = () => resolve(failed('The runner is shutting down.'))
      const timer = setTimeout(late, limitMs)
      unwanted?.addEventListener('abort', abort)
      if (unwanted?.aborted) abort()
      free = () => {
        clearTimeout(timer)
        unwanted?.removeEventListener('abort', abort)
      }
      void exited.then(({ how }) => resolve(failed(`The bot's process ${how} while it loaded the bot.`)))
    })
    const error = await Promise.race([this.#word, cut])
    free()
    return error
  }

  /** Lets go of the stream, for the session's host to take it over. */
  release(): Duplex {
    this.#stream.pause()
    this.#port.detach()
    return this.#stream
  }

  #onMessage(message: GuestMessage): void {
    if (message.type === 'hello' && message.version !== LINK_VERSION) {
      const text = `The bot speaks version ${message.version} of the link, this runner version ${LINK_VERSION}. Install the same version of both.`
      this.#port.send({ type: 'refused', message: text })
      this.#settle(failed(text))
    } else if (message.type === 'load-failed') this.#settle(loadFailure(message.error))
    else if (message.type === 'ready') {
      this.#passThrough = message.passThrough === true
      this.#settle()
    }
  }
}

/** What a guest threw when it loaded the user's code, for people. */
export function loadFailure(error: {
  readonly name: string
  readonly message: string
  readonly stack?: string | undefined
}): RunnerError {
  const { name, message, stack } = error
  return new RunnerError('bot_load_failed', `The bot could not be loaded: ${name}: ${message}`, stack)
}

function failed(message: string): RunnerError {
  return new RunnerError('bot_load_failed', message)
}
