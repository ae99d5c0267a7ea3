import { relative } from 'node:path'
import type { GuestCode } from '../guests/guest.ts'
import type { Logger } from '../log/logger.ts'
import { ChangeTimer } from './change-timer.ts'
import { type Compiled, Compiler } from './compile.ts'
import type { BotFile } from './discover.ts'
import { FolderWatch } from './folder-watch.ts'

/** The bot as it is on disk: code that can be loaded, or the reason why there is none. */
export type BotState =
  | { readonly kind: 'ready'; readonly code: GuestCode }
  | { readonly kind: 'broken'; readonly message: string }

/** What a {@link BotSource} tells, and to whom. */
export interface BotSourceOptions {
  readonly logger: Logger
  /** The code never changes, so nobody looks for changes. */
  readonly fixed?: boolean
  /** Called after every change of `current`. */
  readonly onChange?: (state: BotState) => void
  /** Paths in messages are relative to this folder. */
  readonly cwd?: string
}

/** While the code is broken, its cure may come from a folder that nobody watches. */
const BROKEN_RETRY_MS = 2000
const MAX_INPUTS = 1000

/** The user's code, compiled, and compiled again whenever it changes. */
export class BotSource {
  readonly #file: BotFile
  readonly #options: BotSourceOptions
  readonly #compiler: Compiler
  readonly #watch: FolderWatch
  #inputs: readonly string[] = []
  #hash = ''
  #version = 0
  #current: BotState = { kind: 'broken', message: 'The bot has not been compiled yet.' }
  readonly #timer = new ChangeTimer(() => this.#recompile())
  #work: Promise<void> = Promise.resolve()
  /** What the first compilation gives is told by whoever opened this source. */
  #opened = false
  #closed = false

  private constructor(file: BotFile, options: BotSourceOptions, compiler: Compiler) {
    this.#file = file
    this.#options = options
    this.#compiler = compiler
    this.#watch = new FolderWatch(() => this.#timer.changed(), options.logger)
  }

  /** Compiles for the first time and begins to watch, unless the code is fixed. Broken code is a state, not an error. */
  static async open(file: BotFile, options: BotSourceOptions): Promise<BotSource> {
    const compiler = await Compiler.open(file, options.cwd)
    const source = new BotSource(file, options, compiler)
    try {
      source.#take(await compiler.compile())
      source.#opened = true
      if (options.fixed) await compiler.finish()
    } catch (error) {
      await source.close()
      throw error
    }
    return source
  }

  /** What the next session would run. */
  get current(): BotState {
    return this.#current
  }

  /** Ends the watch and removes what was compiled. Guests must have loaded their module before. */
  async close(): Promise<void> {
    if (this.#closed) return this.#work
    this.#closed = true
    this.#timer.close()
    this.#watch.close()
    this.#work = this.#work.then(() => this.#compiler.close())
    await this.#work
  }

  #recompile(): void {
    // One after the other, so that the newest result is the one that stays.
    this.#work = this.#work.then(async () => {
      if (this.#closed) return
      try {
        const compiled = await this.#compiler.compile()
        if (!this.#closed) this.#take(compiled)
      } catch (error) {
        this.#options.logger.error('the bot could not be compiled', { error })
      }
    })
  }

  #take(compiled: Compiled): void {
    const wasBroken = this.#current.kind === 'broken'
    // Broken code hides what it imports, so what was known before stays watched.
    this.#inputs =
      compiled.kind === 'compiled'
        ? compiled.inputs
        : [...new Set([...compiled.inputs, ...this.#inputs])].slice(0, MAX_INPUTS)
    if (!this.#options.fixed) {
      this.#watch.update(
        { files: this.#inputs, everything: compiled.kind === 'failed' },
        wasBroken && compiled.kind === 'compiled',
      )
    }
    if (compiled.kind === 'failed') this.#takeFailure(compiled.message)
    else this.#takeCode(compiled, wasBroken)
  }

  #takeFailure(message: string): void {
    if (!this.#options.fixed) this.#timer.schedule(BROKEN_RETRY_MS)
    if (this.#current.kind === 'broken' && this.#current.message === message) return
    this.#current = { kind: 'broken', message }
    if (!this.#opened) return
    this.#options.logger.error(`the bot is broken, new sessions wait for the next good save\n${message}`)
    this.#options.onChange?.(this.#current)
  }

  #takeCode(compiled: Extract<Compiled, { kind: 'compiled' }>, wasBroken: boolean): void {
    if (!wasBroken && compiled.hash === this.#hash) return
    this.#hash = compiled.hash
    this.#version += 1
    this.#current = {
      kind: 'ready',
      code: { kind: 'javascript', url: compiled.url, version: this.#version },
    }
    for (const warning of compiled.warnings) this.#options.logger.warn(warning)
    if (!this.#opened) return
    const shown = relative(this.#options.cwd ?? process.cwd(), this.#file.path)
    this.#options.logger.info(`reloaded ${shown}`, { version: this.#version })
    this.#options.onChange?.(this.#current)
  }
}
