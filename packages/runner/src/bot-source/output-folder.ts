import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { RunnerError } from '../errors.ts'
import { removeFolder, removeStale, runName } from './run-folder.ts'

/** The folder, inside the bot's own so that its packages are found, that holds what was compiled. */
export const OUTPUT_ROOT = '.botcli'

/** Guests that are just starting may still load the version before. */
const KEPT_VERSIONS = 3

/** A file to be written beside the others of its version. */
export interface OutputFile {
  readonly name: string
  readonly text: string
}

/** The compiled versions of one runner. Runners on the same folder do not share anything. */
export class OutputFolder {
  readonly #path: string
  readonly #versions: string[] = []

  private constructor(path: string) {
    this.#path = path
  }

  /** Makes a folder for this runner and removes those of runners that are gone. */
  static async open(botFolder: string, pid: number = process.pid): Promise<OutputFolder> {
    const root = join(botFolder, OUTPUT_ROOT)
    const path = join(root, runName(pid))
    try {
      await mkdir(path, { recursive: true })
      await writeFile(join(root, '.gitignore'), '*\n')
    } catch (error) {
      throw new RunnerError(
        'bot_load_failed',
        `The compiled bot could not be written to ${root}. Make the bot's folder writable.`,
        error instanceof Error ? error.message : String(error),
        { cause: error },
      )
    }
    await removeStale(root)
    return new OutputFolder(path)
  }

  /** A path as deep as that of every version, for whatever is spelled relative to it. */
  get samplePath(): string {
    return join(this.#path, 'version')
  }

  /** Writes a version and gives the address of its first file. */
  async write(version: string, files: readonly [OutputFile, ...OutputFile[]]): Promise<string> {
    const folder = join(this.#path, version)
    await mkdir(folder, { recursive: true })
    await Promise.all(files.map((file) => writeFile(join(folder, file.name), file.text)))
    const known = this.#versions.indexOf(version)
    if (known >= 0) this.#versions.splice(known, 1)
    this.#versions.push(version)
    const oldest = this.#versions.length > KEPT_VERSIONS ? this.#versions.shift() : undefined
    if (oldest !== undefined) await removeFolder(join(this.#path, oldest))
    return pathToFileURL(join(folder, files[0].name)).href
  }

  async close(): Promise<void> {
    await removeFolder(this.#path)
  }
}
