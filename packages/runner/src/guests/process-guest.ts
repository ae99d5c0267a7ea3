import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Duplex, Readable } from 'node:stream'
import { RunnerError } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import { type Guest, type GuestExit, KILLED } from './guest.ts'
import type { GuestCommand } from './guest-command.ts'
import { GuestLink } from './guest-link.ts'
import { GuestOutput } from './guest-output.ts'
import type { KernelKills } from './kernel-kills.ts'
import { MemoryWatch } from './memory-watch.ts'
import { endGroup, signalGroup, trackGroup } from './process-group.ts'
import { within } from './within.ts'

/** After a polite signal, a process that does not end is killed. */
const TERM_GRACE_MS = 500
/** What a process has written before its end is read within this. */
const LAST_LINES_MS = 200

/** What every guest process gets. */
export interface ProcessGuestOptions {
  readonly folder: string
  readonly logger: Logger
  /** For a language that does not watch its own size. */
  readonly maxMemoryBytes?: number
  /** Tells what the kernel has ended for want of memory. */
  readonly kills?: KernelKills | undefined
  /** Aborted when nobody waits for the guest any more. */
  readonly unwanted?: AbortSignal
}

/** A guest in a process of its own. */
export class ProcessGuest implements Guest {
  readonly version: number
  readonly exited: Promise<GuestExit>
  readonly #child: ChildProcess
  readonly #link: GuestLink
  /** Missing when the process could not be started. */
  readonly #output: GuestOutput | undefined
  readonly #memory: MemoryWatch | undefined
  readonly #kills: KernelKills | undefined
  #isKilled = false

  private constructor({ version, file, args, env }: GuestCommand, options: ProcessGuestOptions) {
    this.version = version
    this.#kills = options.kills
    this.#child = spawn(file, args, {
      cwd: options.folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      // A group of its own: a Ctrl-C of the terminal is the runner's business, and what the bot started ends with it.
      detached: true,
    })
    // Before anything else: a process that cannot be started says so by an event, which nobody may miss.
    this.exited = this.#watchExit()
    const { pid } = this.#child
    const { maxMemoryBytes } = options
    if (pid !== undefined) trackGroup(pid)
    // Without a free descriptor there are no streams at all, whatever the types say.
    const link = this.#child.stdio?.[3]
    if (link === undefined || link === null) {
      throw new RunnerError(
        'bot_load_failed',
        "The bot's process could not be started. Is the machine out of processes or files?",
      )
    }
    this.#link = new GuestLink(link as Duplex)
    const { stdout, stderr } = this.#child as { stdout: Readable; stderr: Readable }
    this.#output = new GuestOutput(options.logger, stdout, stderr)
    if (pid !== undefined && maxMemoryBytes !== undefined) {
      this.#memory = new MemoryWatch(pid, maxMemoryBytes, () => this.#signal('SIGKILL'))
    }
  }

  /** Starts a process and waits until it has loaded the user's code. */
  static async start(command: GuestCommand, options: ProcessGuestOptions): Promise<ProcessGuest> {
    const guest = new ProcessGuest(command, options)
    const { exited } = guest
    const error = await guest.#link.loaded({ exited, limitMs: command.loadMs, unwanted: options.unwanted })
    if (error === undefined) return guest
    await guest.stop(0)
    throw error
  }

  get passThrough(): boolean {
    return this.#link.passThrough
  }

  release(logger: Logger): Duplex {
    if (this.#output !== undefined) this.#output.logger = logger
    return this.#link.release()
  }

  async stop(graceMs: number): Promise<void> {
    if (await within(this.exited, graceMs)) return
    this.#signal('SIGTERM')
    if (await within(this.exited, TERM_GRACE_MS)) return
    this.#signal('SIGKILL')
    await this.exited
  }

  async #watchExit(): Promise<GuestExit> {
    const failed = once(this.#child, 'error').then(([error]) => {
      return { how: `could not be started: ${(error as Error).message}`, outOfMemory: false }
    })
    // `close` comes after the last line was read, so that what the process said is known by then.
    const ended = once(this.#child, 'exit').then(async ([code, signal]) => {
      this.#memory?.close()
      await within(once(this.#child, 'close'), LAST_LINES_MS)
      if (this.#child.pid !== undefined) endGroup(this.#child.pid)
      const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`
      if (this.#memory?.exceeded || this.#output?.outOfMemory || this.#isByKernel(how))
        return { how: 'ran out of memory', outOfMemory: true }
      return { how, outOfMemory: false }
    })
    return Promise.race([failed, ended])
  }

  #isByKernel(how: string): boolean {
    return how === KILLED && !this.#isKilled && this.#kills?.claim() === true
  }

  /** Signals the whole group, so that nothing the bot started is left behind. */
  #signal(signal: NodeJS.Signals): void {
    if (signal === 'SIGKILL') this.#isKilled = true
    if (this.#child.pid !== undefined) signalGroup(this.#child.pid, signal)
  }
}
