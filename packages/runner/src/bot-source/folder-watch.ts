import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Logger } from '../log/logger.ts'
import { OUTPUT_ROOT } from './output-folder.ts'

const MAX_FOLDERS = 256

/** Files that decide how the others are compiled, wherever they lie. */
const ALWAYS_WATCHED = ['tsconfig.json', 'package.json']

/** What is to be noticed. */
export interface Watched {
  readonly files: readonly string[]
  /** Anything that happens in the files' folders may be the cure for broken code. */
  readonly everything: boolean
  /** Names in the files' folders that matter although nobody knows them yet. */
  readonly names?: RegExp
}

/**
 * Notices changes of files by watching their folders, because editors that save by renaming would leave a
 * watcher of the file itself behind.
 */
export class FolderWatch {
  readonly #watchers = new Map<string, FSWatcher>()
  readonly #onEvent: () => void
  readonly #logger: Logger
  #names = new Set<string>()
  #everything = false
  #pattern: RegExp | undefined
  #warned = false

  constructor(onEvent: () => void, logger: Logger) {
    this.#onEvent = onEvent
    this.#logger = logger
  }

  /** Watches these files and no others. `fresh` replaces watchers whose folders may have been replaced. */
  update({ files, everything, names }: Watched, fresh: boolean): void {
    this.#everything = everything
    this.#pattern = names
    this.#names = new Set([...ALWAYS_WATCHED, ...files.map((file) => basename(file))])
    const wanted = new Set([...new Set(files.map((file) => dirname(file)))].slice(0, MAX_FOLDERS))
    for (const [folder, watcher] of this.#watchers) {
      if (wanted.has(folder) && !fresh) continue
      watcher.close()
      this.#watchers.delete(folder)
    }
    for (const folder of wanted) this.#watch(folder)
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  #watch(folder: string): void {
    if (this.#watchers.has(folder)) return
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => this.#noticed(name))
      watcher.on('error', () => {
        watcher.close()
        if (this.#watchers.get(folder) === watcher) this.#watchers.delete(folder)
      })
      this.#watchers.set(folder, watcher)
    } catch (error) {
      if (this.#warned) return
      this.#warned = true
      this.#logger.warn('changes of the bot cannot be noticed here; restart after a change', {
        folder,
        error,
      })
    }
  }

  #noticed(name: string | null): void {
    if (name === OUTPUT_ROOT) return
    const known = name === null || this.#names.has(name) || this.#pattern?.test(name)
    if (known || this.#everything) this.#onEvent()
  }
}
