import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { Duplex, Readable } from 'node:stream'
import { type GuestMessage, type HostPort, hostPort, LINK_VERSION, parseReportLine } from '@botcli/protocol'
import { RunnerError } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import type { Guest, GuestCode, GuestExit } from './guest.ts'
import { readLines } from './line-log.ts'

/** Found once, because a machine that is out of files cannot look. */
const GUEST_MAIN = createRequire(import.meta.url).resolve('@botcli/bot/guest-main')
const LOAD_LIMIT_MS = 30_000
/** After a polite signal, a process that does not end is killed. */
const TERM_GRACE_MS = 500
/** What a process has written before its end is read within this. */
const LAST_LINES_MS = 200

/** Groups of guests that have not ended. A runner that leaves in a hurry takes them along, however stuck they are. */
const liveGroups = new Set<number>()
process.on('exit', () => {
  for (const group of liveGroups) signalGroup(group, 'SIGKILL')
})

/** What every guest process gets. */
export interface ProcessGuestOptions {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly maxMemoryBytes: number
  readonly logger: Logger
  /** Aborted when nobody waits for the guest any more. */
  readonly unwanted?: AbortSignal
}

/** A guest in a process of its own. */
export class ProcessGuest implements Guest {
  readonly version: number
  readonly exited: Promise<GuestExit>
  readonly #child: ChildProcess
  readonly #link: Duplex
  readonly #port: HostPort
  #logger: Logger
  #heapExhausted = false
  #settleLoad: (error?: RunnerError) => void = () => {}

  private constructor({ url, version }: GuestCode, options: ProcessGuestOptions) {
    this.version = version
    this.#logger = options.logger
    const heapMb = Math.floor(options.maxMemoryBytes / (1024 * 1024))
    this.#child = spawn(
      process.execPath,
      ['--enable-source-maps', `--max-old-space-size=${heapMb}`, GUEST_MAIN],
      {
        cwd: options.folder,
        env: { ...options.env, ENV: 'local', BOTCLI_BOT_URL: url },
        stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
        // A group of its own: a Ctrl-C of the terminal is the runner's business, and what the bot started ends with it.
        detached: true,
      },
    )
    // Before anything else: a process that cannot be started says so by an event, which nobody may miss.
    this.exited = this.#watchExit()
    // Without a free descriptor there are no streams at all, whatever the types say.
    const link = this.#child.stdio?.[3]
    if (this.#child.pid !== undefined) liveGroups.add(this.#child.pid)
    if (link === undefined || link === null) {
      throw new RunnerError(
        'bot_load_failed',
        "The bot's process could not be started. Is the machine out of processes or files?",
      )
    }
    this.#link = link as Duplex
    this.#port = hostPort(this.#link, {
      message: (message) => this.#onMessage(message),
      frame: () => {},
      closed: (error) => {
        if (error === undefined) return
        this.#settleLoad(
          new RunnerError('bot_load_failed', `The bot's process broke its link: ${error.message}`),
        )
      },
    })
    // A guest that dies while its link is handed over is no news; without a listener it would end the runner.
    this.#link.on('error', () => {})
    this.#readOutput()
  }

  /** Starts a process and waits until it has loaded the user's code. */
  static async start(code: GuestCode, options: ProcessGuestOptions): Promise<ProcessGuest> {
    const guest = new ProcessGuest(code, options)
    const error = await guest.#loaded(options.unwanted)
    if (error === undefined) return guest
    await guest.stop(0)
    throw error
  }

  /** What kept the guest from loading the user's code, if anything did. */
  async #loaded(unwanted: AbortSignal | undefined): Promise<RunnerError | undefined> {
    const failed = (message: string) => new RunnerError('bot_load_failed', message)
    let free = () => {}
    const error = await new Promise<RunnerError | undefined>((resolve) => {
      this.#settleLoad = resolve
      const seconds = LOAD_LIMIT_MS / 1000
      const timer = setTimeout(
        () => resolve(failed(`The bot was not loaded after ${seconds} seconds.`)),
        LOAD_LIMIT_MS,
      )
      const abort = () => resolve(failed('The runner is shutting down.'))
      unwanted?.addEventListener('abort', abort)
      if (unwanted?.aborted) abort()
      free = () => {
        clearTimeout(timer)
        unwanted?.removeEventListener('abort', abort)
      }
      void this.exited.then(({ how }) => resolve(failed(`The bot's process ${how} while it loaded the bot.`)))
    })
    free()
    return error
  }

  release(logger: Logger): Duplex {
    this.#logger = logger
    this.#link.pause()
    this.#port.detach()
    return this.#link
  }

  async stop(graceMs: number): Promise<void> {
    if (await this.#endsWithin(graceMs)) return
    this.#kill('SIGTERM')
    if (await this.#endsWithin(TERM_GRACE_MS)) return
    this.#kill('SIGKILL')
    await this.exited
  }

  #onMessage(message: GuestMessage): void {
    if (message.type === 'hello' && message.version !== LINK_VERSION) {
      const text = `The bot speaks version ${message.version} of the link, this runner version ${LINK_VERSION}. Install the same version of both.`
      this.#port.send({ type: 'refused', message: text })
      this.#settleLoad(new RunnerError('bot_load_failed', text))
    } else if (message.type === 'load-failed') {
      const { name, message: text, stack } = message.error
      this.#settleLoad(
        new RunnerError('bot_load_failed', `The bot could not be loaded: ${name}: ${text}`, stack),
      )
    } else if (message.type === 'ready') this.#settleLoad()
  }

  #readOutput(): void {
    const { stdout, stderr } = this.#child as { stdout: Readable; stderr: Readable }
    const leftOut = (count: number) =>
      this.#logger.warn(`the bot wrote too much; ${count} lines are left out`)
    readLines(stdout, { leftOut, line: (line) => this.#logger.info(line, { from: 'bot' }) })
    readLines(stderr, { leftOut, line: (line) => this.#onErrorLine(line) })
  }

  #onErrorLine(line: string): void {
    const report = parseReportLine(line)
    if (report === undefined) {
      if (line.includes('heap out of memory')) this.#heapExhausted = true
      this.#logger.warn(line, { from: 'bot' })
      return
    }
    const seconds = (report.ms / 1000).toFixed(1)
    const where = report.at === undefined ? '' : ` at ${report.at}`
    this.#logger.warn(
      report.over
        ? `the bot's event loop was blocked for ${seconds} s${where}`
        : `the bot's event loop has been blocked for ${seconds} s${where}, and still is`,
      { ms: report.ms, ...(report.at === undefined ? {} : { at: report.at }) },
    )
  }

  async #watchExit(): Promise<GuestExit> {
    const failed = once(this.#child, 'error').then(([error]) => {
      return { how: `could not be started: ${(error as Error).message}`, outOfMemory: false }
    })
    // `close` comes after the last line was read, so that what the process said is known by then.
    const ended = once(this.#child, 'exit').then(async ([code, signal]) => {
      await within(once(this.#child, 'close'), LAST_LINES_MS)
      this.#kill('SIGKILL')
      liveGroups.delete(this.#child.pid ?? 0)
      if (this.#heapExhausted) return { how: 'ran out of memory', outOfMemory: true }
      const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`
      return { how, outOfMemory: false }
    })
    return Promise.race([failed, ended])
  }

  async #endsWithin(ms: number): Promise<boolean> {
    return within(this.exited, ms)
  }

  /** Signals the whole group, so that nothing the bot started is left behind. */
  #kill(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) signalGroup(this.#child.pid, signal)
  }
}

function signalGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal)
  } catch {
    // The group is gone already.
  }
}

/** Whether something happens in time. */
function within(happening: Promise<unknown>, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    void happening.then(() => {
      clearTimeout(timer)
      resolve(true)
    })
  })
}
