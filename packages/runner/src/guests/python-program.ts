import { RunnerError } from '../errors.ts'
import type { Logger } from '../log/logger.ts'
import { ForkedGuest } from './forked-guest.ts'
import type { Guest } from './guest.ts'
import { type Interpreter, PYTHON_LOAD_MS, pythonCommand, type Variables } from './guest-command.ts'
import type { KernelKills } from './kernel-kills.ts'
import type { LinkDoor } from './link-door.ts'
import { ProcessGuest } from './process-guest.ts'
import { PythonTemplate } from './python-template.ts'
import { within } from './within.ts'

/** A template that dies on its own is replaced only after this, so that it does not spin. */
const REPLACE_DELAY_MS = 2000
/** How often a guest is tried to be forked. */
const MAX_FORKS = 2
/** At the end, guests that are still stopping keep their template for so long at most. */
const LAST_GUESTS_MS = 3000

/** What all states of a Python project share. */
export interface PythonProgramOptions {
  readonly version: number
  /** Finds the project's Python; another one may be there after a failure. */
  readonly findInterpreter: () => Promise<Interpreter>
  readonly path: string
  readonly folder: string
  readonly env: Variables
  readonly maxMemoryBytes: number
  /** Tells what the kernel has ended for want of memory. */
  readonly kills?: KernelKills | undefined
  /** Where forked guests arrive. Without it each guest is started from the beginning. */
  readonly door: LinkDoor | undefined
  readonly logger: Logger
  /** Hears which files the code consists of, each time it is loaded. */
  readonly onFiles: (files: readonly string[]) => void
  /** Hears why the code cannot be forked. */
  readonly onUnsafe: (reason: string) => void
}

/** One state of a Python project: a template that has loaded it, and the guests that are made from it. */
export class PythonProgram {
  readonly #options: PythonProgramOptions
  #python: Promise<Interpreter> | undefined
  #loading: Promise<PythonTemplate | undefined> | undefined
  #template: PythonTemplate | undefined
  #loaded = false
  #starting = 0
  /** Gone when the code turns out to be unsafe to fork. */
  #door: LinkDoor | undefined
  #timer: NodeJS.Timeout | undefined
  #retired = false

  constructor(options: PythonProgramOptions) {
    this.#options = options
    this.#door = options.door
  }

  /** Makes a guest that is ready for its session. Rejects with a {@link RunnerError}. */
  async start(unwanted: AbortSignal): Promise<Guest> {
    this.#starting += 1
    try {
      return await this.#make(unwanted)
    } finally {
      this.#starting -= 1
      this.#leaveWhenUnused()
    }
  }

  /**
   * There is a newer state. The template goes when its last guest has gone, or at once while it loads. Resolves
   * when it has gone.
   */
  async retire(): Promise<void> {
    this.#retired = true
    clearTimeout(this.#timer)
    if (this.#template !== undefined && !this.#loaded) void this.#template.close(0)
    this.#leaveWhenUnused()
    await this.#template?.exited
  }

  /** Ends the template, after guests that are just stopping. */
  async close(): Promise<void> {
    const gone = this.retire()
    if (!(await within(gone, LAST_GUESTS_MS))) await this.#template?.close()
  }

  get #isUsed(): boolean {
    return this.#starting > 0 || (this.#template?.users ?? 0) > 0
  }

  /** The template once it is loaded, a new one if there is none; nothing when it must not be forked. */
  #ready(): Promise<PythonTemplate | undefined> {
    this.#loading ??= this.#load().catch((error: unknown) => {
      this.#loading = undefined
      this.#python = undefined
      throw error
    })
    return this.#loading
  }

  /** Found once, and again after a failure, which another Python may mend. */
  #interpreter(): Promise<Interpreter> {
    this.#python ??= this.#options.findInterpreter()
    return this.#python
  }

  async #load(): Promise<PythonTemplate | undefined> {
    if (this.#retired) throw savedAgain()
    const { path, env, folder, maxMemoryBytes, kills, logger, onFiles } = this.#options
    const command = pythonCommand(await this.#interpreter(), path, env)
    if (this.#retired) throw savedAgain()
    const template = new PythonTemplate({ command, folder, maxMemoryBytes, kills, logger, onFiles })
    this.#template = template
    void template.exited.then((how) => this.#onExit(template, how))
    try {
      const { unsafe } = await template.loaded
      if (unsafe === undefined) {
        this.#loaded = true
        return template
      }
      this.#door = undefined
      this.#options.onUnsafe(unsafe)
      await template.close()
      return undefined
    } catch (error) {
      await template.close()
      throw error
    }
  }

  async #make(unwanted: AbortSignal): Promise<Guest> {
    for (let forks = 1; ; forks += 1) {
      const template = this.#door && (await whileWanted(this.#ready(), unwanted))
      if (template === undefined || this.#door === undefined) return this.#spawn(unwanted)
      try {
        return await this.#fork(template, this.#door, unwanted)
      } catch (error) {
        if (forks === MAX_FORKS || unwanted.aborted || this.#retired) throw error
        // The code has been loaded, so this is not its fault; a template that died meanwhile is replaced.
        this.#options.logger.warn('a bot could not be forked; it is tried once more', { error })
      }
    }
  }

  async #fork(template: PythonTemplate, door: LinkDoor, unwanted: AbortSignal): Promise<Guest> {
    const { logger, version, maxMemoryBytes, kills } = this.#options
    const limits = { maxMemoryBytes, kills }
    const guest = await ForkedGuest.start({ version, template, door, ...limits, logger, unwanted })
    void guest.exited.then(() => this.#leaveWhenUnused())
    return guest
  }

  async #spawn(unwanted: AbortSignal): Promise<Guest> {
    const { version, path, env, folder, logger, maxMemoryBytes, kills } = this.#options
    try {
      const python = pythonCommand(await this.#interpreter(), path, env)
      const command = { version, loadMs: PYTHON_LOAD_MS, ...python }
      return await ProcessGuest.start(command, { folder, logger, maxMemoryBytes, kills, unwanted })
    } catch (error) {
      this.#python = undefined
      throw error
    }
  }

  #onExit(template: PythonTemplate, how: string): void {
    if (this.#template !== template) return
    const wasLoaded = this.#loaded
    this.#template = undefined
    this.#loading = undefined
    this.#loaded = false
    if (!wasLoaded || this.#retired) return
    this.#options.logger.warn(
      `the process that new bots are made from ${how}; it is started again, and bots that run go on`,
    )
    this.#timer = setTimeout(() => {
      // A session that needs it tries again and is told what is wrong.
      this.#ready().catch(() => {})
    }, REPLACE_DELAY_MS)
    this.#timer.unref()
  }

  #leaveWhenUnused(): void {
    if (this.#retired && this.#loaded && !this.#isUsed) void this.#template?.close()
  }
}

function savedAgain(): RunnerError {
  return new RunnerError('bot_load_failed', 'The bot was saved again while it loaded.')
}

async function whileWanted<T>(work: Promise<T>, unwanted: AbortSignal): Promise<T> {
  let free = () => {}
  const abandoned = new Promise<never>((_, reject) => {
    const abort = () => reject(new RunnerError('bot_load_failed', 'The runner is shutting down.'))
    unwanted.addEventListener('abort', abort)
    if (unwanted.aborted) abort()
    free = () => unwanted.removeEventListener('abort', abort)
  })
  try {
    return await Promise.race([work, abandoned])
  } finally {
    free()
  }
}
