import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex, Readable } from 'node:stream'
import { RunnerError } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import { KILLED } from './guest.ts'
import { type GuestCommand, PYTHON_LOAD_MS } from './guest-command.ts'
import { loadFailure } from './guest-link.ts'
import { GuestOutput } from './guest-output.ts'
import type { KernelKills } from './kernel-kills.ts'
import { MemoryWatch } from './memory-watch.ts'
import { endGroup, signalGroup, trackGroup } from './process-group.ts'
import { type LoadedMessage, parseTemplateMessage, type TemplateMessage } from './template-message.ts'
import { within } from './within.ts'

/** A fork takes milliseconds; a template that needs longer is stuck. */
const FORK_MS = 10_000
/** Whoever waits for a bot that takes long to load is told so this often. */
const PROGRESS_MS = 10_000
/** After its control stream was closed, a template only has to exit. */
const CLOSE_MS = 500
/** What a process has written before its end is read within this. */
const LAST_LINES_MS = 200
const MAX_LINE_CHARS = 1024 * 1024

/** A guest that was forked from a template. */
export interface ForkedChild {
  readonly pid: number
  /** How it ended; nothing when the template ended before it, so that nobody knows. */
  readonly exited: Promise<string | undefined>
}

/** What a template is made of. */
export interface PythonTemplateOptions {
  readonly command: Pick<GuestCommand, 'file' | 'args' | 'env'>
  readonly folder: string
  readonly maxMemoryBytes: number
  /** Tells what the kernel has ended for want of memory. */
  readonly kills?: KernelKills | undefined
  readonly logger: Logger
  /** Hears which files the code consists of. */
  readonly onFiles: (files: readonly string[]) => void
}

interface Pending {
  readonly resolve: (child: ForkedChild) => void
  readonly reject: (error: RunnerError) => void
}

/** A process that has loaded the user's code once, and forks a guest from itself for each session. */
export class PythonTemplate {
  /** Rejects with what kept the code from being loaded. */
  readonly loaded: Promise<LoadedMessage>
  /** How the template ended. */
  readonly exited: Promise<string>
  readonly #child: ChildProcess
  readonly #control: Duplex | undefined
  readonly #memory: MemoryWatch | undefined
  readonly #options: PythonTemplateOptions
  readonly #pending = new Map<number, Pending>()
  readonly #children = new Map<number, (how: string | undefined) => void>()
  #settleLoad: (message: LoadedMessage | RunnerError) => void = () => {}
  #rest = ''
  #isKilled = false
  #ended = false

  constructor(options: PythonTemplateOptions) {
    this.#options = options
    const { file, args, env } = options.command
    this.#child = spawn(file, [...args, '--template'], {
      cwd: options.folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      detached: true,
    })
    this.exited = this.#watchExit()
    this.loaded = this.#load()
    // Whoever waits hears of it; when nobody does, it is no news.
    this.loaded.catch(() => {})
    const { pid } = this.#child
    if (pid !== undefined) {
      trackGroup(pid)
      this.#memory = new MemoryWatch(pid, options.maxMemoryBytes, () => this.#signal('SIGKILL'))
    }
    this.#control = this.#child.stdio?.[3] as Duplex | undefined
    // Without a free descriptor there are no streams at all; the exit says so.
    if (!this.#control) return
    const { stdout, stderr } = this.#child as { stdout: Readable; stderr: Readable }
    new GuestOutput(options.logger, stdout, stderr)
    this.#control.on('error', () => {})
    this.#control.setEncoding('utf8').on('data', (text: string) => this.#onText(text))
  }

  /** How many of its guests have not ended, or are just being made. */
  get users(): number {
    return this.#pending.size + this.#children.size
  }

  /** Makes a guest, which will come to the socket and tell this number. Rejects with a {@link RunnerError}. */
  async fork(id: number, socket: string): Promise<ForkedChild> {
    if (this.#ended) throw failed('The process that the bots are made from has ended.')
    const timer = setTimeout(() => {
      this.#pending.get(id)?.reject(failed('The process that the bots are made from does not answer.'))
      this.#signal('SIGKILL')
    }, FORK_MS)
    try {
      return await new Promise<ForkedChild>((resolve, reject) => {
        this.#pending.set(id, { resolve, reject })
        this.#control?.write(`${JSON.stringify({ type: 'fork', id, socket })}\n`)
      })
    } finally {
      clearTimeout(timer)
      this.#pending.delete(id)
    }
  }

  /** Ends the template. Its guests do not end with it. */
  async close(graceMs = CLOSE_MS): Promise<void> {
    this.#control?.end()
    if (await within(this.exited, graceMs)) return
    this.#signal('SIGKILL')
    await this.exited
  }

  async #load(): Promise<LoadedMessage> {
    const late = `The bot was not loaded after ${PYTHON_LOAD_MS / 1000} seconds.`
    let timer: NodeJS.Timeout | undefined
    const begin = performance.now()
    const progress = setInterval(() => {
      const seconds = Math.round((performance.now() - begin) / 1000)
      this.#options.logger.info(`the bot is still being loaded, for ${seconds} seconds now`)
    }, PROGRESS_MS)
    const outcome = await new Promise<LoadedMessage | RunnerError>((resolve) => {
      this.#settleLoad = resolve
      timer = setTimeout(() => resolve(failed(late)), PYTHON_LOAD_MS)
      void this.exited.then((how) => resolve(failed(`The bot's process ${how} while it loaded the bot.`)))
    })
    clearTimeout(timer)
    clearInterval(progress)
    if (outcome instanceof RunnerError) throw outcome
    return outcome
  }

  #onText(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line)
    if (this.#rest.length > MAX_LINE_CHARS) this.#onNonsense()
  }

  #onLine(line: string): void {
    const message = parseTemplateMessage(line)
    if (message === undefined) this.#onNonsense()
    else this.#onMessage(message)
  }

  #onMessage(message: TemplateMessage): void {
    switch (message.type) {
      case 'loaded':
        this.#options.onFiles(message.files)
        this.#settleLoad(message)
        break
      case 'load-failed':
        this.#settleLoad(loadFailure(message.error))
        break
      case 'forked':
        this.#onForked(message.id, message.pid)
        break
      case 'fork-failed':
        this.#pending
          .get(message.id)
          ?.reject(failed(`The bot's process could not be made: ${message.message}`))
        break
      case 'exited':
        this.#children.get(message.pid)?.(message.how)
        this.#children.delete(message.pid)
    }
  }

  #onForked(id: number, pid: number): void {
    const pending = this.#pending.get(id)
    trackGroup(pid)
    const exited = new Promise<string | undefined>((resolve) => this.#children.set(pid, resolve))
    if (pending !== undefined) {
      pending.resolve({ pid, exited })
      return
    }
    // Nobody waits for it any more.
    signalGroup(pid, 'SIGKILL')
    void exited.then(() => endGroup(pid))
  }

  /** Whoever wrote this into our stream cannot be relied on. */
  #onNonsense(): void {
    this.#rest = ''
    const text =
      "The bot's process wrote to file descriptor 3, which is not its own. Leave that descriptor alone."
    this.#settleLoad(failed(text))
    if (!this.#ended) this.#options.logger.error(text)
    this.#signal('SIGKILL')
  }

  async #watchExit(): Promise<string> {
    const impossible = once(this.#child, 'error').then(
      ([error]) => `could not be started: ${(error as Error).message}`,
    )
    const over = once(this.#child, 'exit').then(async ([code, signal]) => {
      await within(once(this.#child, 'close'), LAST_LINES_MS)
      const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`
      const isByKernel = how === KILLED && !this.#isKilled && this.#options.kills?.claim()
      return this.#memory?.exceeded || isByKernel ? 'ran out of memory' : how
    })
    const how = await Promise.race([impossible, over])
    this.#ended = true
    this.#memory?.close()
    if (this.#child.pid !== undefined) endGroup(this.#child.pid)
    for (const { reject } of this.#pending.values()) {
      reject(failed(`The process that the bots are made from ${how}.`))
    }
    for (const resolve of this.#children.values()) resolve(undefined)
    this.#children.clear()
    return how
  }

  #signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') this.#isKilled = true
    if (this.#child.pid !== undefined && !this.#ended) signalGroup(this.#child.pid, signal)
  }
}

function failed(message: string): RunnerError {
  return new RunnerError('bot_load_failed', message)
}
