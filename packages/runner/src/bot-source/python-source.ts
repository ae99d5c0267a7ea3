import { join, relative } from 'node:path'
import type { PythonConfig } from '../config.ts'
import type { Interpreter, Variables } from '../guests/guest-command.ts'
import type { KernelKills } from '../guests/kernel-kills.ts'
import { LinkDoor } from '../guests/link-door.ts'
import { PythonProgram } from '../guests/python-program.ts'
import type { BotSourceOptions, BotState } from './bot-source.ts'
import { ChangeTimer } from './change-timer.ts'
import type { BotFile } from './discover.ts'
import { FolderWatch } from './folder-watch.ts'
import { findInterpreter } from './interpreter.ts'
import { contentsOf, pythonFilesIn } from './python-files.ts'

const PYTHON_NAME = /\.py$/

/** What a Python bot needs besides its file. */
export interface PythonSourceOptions extends BotSourceOptions {
  readonly python: PythonConfig
  /** What its processes get. */
  readonly env: Variables
  readonly maxMemoryBytes: number
  /** Tells what the kernel has ended for want of memory. */
  readonly kills?: KernelKills | undefined
}

/** The user's Python code, and a new state of it whenever it changes. */
export class PythonSource {
  readonly #file: BotFile
  readonly #options: PythonSourceOptions
  readonly #findInterpreter: () => Promise<Interpreter>
  readonly #door: LinkDoor | undefined
  readonly #watch: FolderWatch
  readonly #timer = new ChangeTimer(() => this.#enqueue(() => this.#check()))
  /** States of before, some of whose guests may still run. */
  readonly #retired = new Set<PythonProgram>()
  #program: PythonProgram
  #version = 0
  /** What was on disk before the newest state was loaded. */
  #contents = new Map<string, string>()
  /** What the bot consisted of when it was loaded the last time. Some may lie outside of its folder. */
  #files: readonly string[] = []
  /** Whether that is the newest state. */
  #loaded = false
  #warned = false
  #work: Promise<void> = Promise.resolve()
  #closed = false

  private constructor(
    file: BotFile,
    options: PythonSourceOptions,
    findInterpreter: () => Promise<Interpreter>,
    door: LinkDoor | undefined,
  ) {
    this.#file = file
    this.#options = options
    this.#findInterpreter = findInterpreter
    this.#door = door
    this.#watch = new FolderWatch(() => this.#timer.changed(), options.logger)
    this.#program = this.#next()
  }

  /** Finds the project's Python and begins to watch, unless the code is fixed. Code is loaded when the first guest is made. */
  static async open(file: BotFile, options: PythonSourceOptions): Promise<PythonSource> {
    const { python, env } = options
    const search = { given: python.path, folder: file.folder, env }
    // The first one is found now, so that a runner without any says so and ends.
    let first: Interpreter | undefined = await findInterpreter(search)
    const find = async () => {
      const known = first
      first = undefined
      return known ?? findInterpreter(search)
    }
    const door = python.start === 'fork' ? await LinkDoor.open() : undefined
    const source = new PythonSource(file, options, find, door)
    if (!options.fixed) await source.#look()
    return source
  }

  /** What the next session would run. */
  get current(): BotState {
    return { kind: 'ready', code: { kind: 'python', version: this.#version, program: this.#program } }
  }

  /** Ends the watch and every template. Guests end by their own owner. */
  async close(): Promise<void> {
    if (this.#closed) return this.#work
    this.#closed = true
    this.#timer.close()
    this.#watch.close()
    this.#work = this.#work.then(async () => {
      await Promise.all([this.#program, ...this.#retired].map((program) => program.close()))
      await this.#door?.close()
    })
    await this.#work
  }

  #next(): PythonProgram {
    this.#version += 1
    const { env, maxMemoryBytes, kills, logger } = this.#options
    const { path, folder } = this.#file
    const program = new PythonProgram({
      version: this.#version,
      findInterpreter: this.#findInterpreter,
      path,
      folder,
      env,
      maxMemoryBytes,
      kills,
      door: this.#door,
      logger,
      onFiles: (files) => {
        if (!this.#options.fixed) this.#enqueue(() => this.#onFiles(program, files))
      },
      onUnsafe: (reason) => this.#onUnsafe(reason),
    })
    return program
  }

  /** One after the other, so that the newest result is the one that stays. */
  #enqueue(work: () => Promise<void>): void {
    this.#work = this.#work.then(async () => {
      if (this.#closed) return
      try {
        await work()
      } catch (error) {
        this.#options.logger.error('changes of the bot could not be looked at', { error })
      }
    })
  }

  /** Remembers what is on disk before it is loaded, and watches all of it until it is known what matters. */
  async #look(): Promise<void> {
    const { files, folders } = await pythonFilesIn(this.#file.folder, { deep: true })
    const all = new Set([this.#file.path, ...files, ...this.#files])
    this.#contents = await contentsOf(all)
    this.#loaded = false
    this.#update([...all, ...folders.map((folder) => join(folder, '__init__.py'))], true)
  }

  #update(files: readonly string[], everything: boolean): void {
    if (!this.#closed) this.#watch.update({ files, everything, names: PYTHON_NAME }, false)
  }

  async #onFiles(program: PythonProgram, files: readonly string[]): Promise<void> {
    if (program !== this.#program) return
    const all = [...new Set([this.#file.path, ...files])]
    this.#files = all
    this.#loaded = true
    for (const [file, content] of await contentsOf(all.filter((one) => !this.#contents.has(one)))) {
      this.#contents.set(file, content)
    }
    this.#update(all, false)
    // What was saved while it was loaded may or may not have been loaded.
    this.#timer.changed()
  }

  async #check(): Promise<void> {
    if (!(await this.#hasChanged())) return
    const previous = this.#program
    this.#program = this.#next()
    await this.#look()
    if (this.#closed) return
    this.#retire(previous)
    const shown = relative(this.#options.cwd ?? process.cwd(), this.#file.path)
    this.#options.logger.info(`${shown} was saved; new sessions get the new code`, { version: this.#version })
    this.#options.onChange?.(this.current)
  }

  async #hasChanged(): Promise<boolean> {
    const { files } = await pythonFilesIn(this.#file.folder, { deep: !this.#loaded })
    if (files.some((file) => !this.#contents.has(file))) return true
    const now = await contentsOf(this.#loaded ? this.#files : this.#contents.keys())
    return [...now].some(([file, content]) => this.#contents.get(file) !== content)
  }

  #retire(program: PythonProgram): void {
    this.#retired.add(program)
    void program.retire().then(() => this.#retired.delete(program))
  }

  #onUnsafe(reason: string): void {
    if (this.#warned) return
    this.#warned = true
    this.#options.logger.warn(
      `the bot's process cannot be forked (${reason}), so each bot is started from the beginning and is slower to be ready`,
    )
  }
}
