import { isUtf8 } from 'node:buffer'
import type { Dirent } from 'node:fs'
import { lstat, readdir, readlink, realpath, stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, posix, relative } from 'node:path'
import { isSecretFile } from '@botcli/protocol/cloud'
import { inBatches } from './content.ts'
import { ContextError, unreadable } from './context-error.ts'
import type { IgnoreFile } from './ignore-file.ts'
import type { Met } from './ignore-rules.ts'
import { hasControl, lengthProblem, pathProblem, shownPath } from './path-problem.ts'

const SHOWN_NAMES = 10
/** What stands for bytes that are no UTF-8. */
const REPLACEMENT = '\ufffd'

/** A file or link that is to be sent. */
export interface FoundFile {
  /** Relative to the context, with `/` between its parts. */
  readonly path: string
  readonly kind: 'file' | 'executable' | 'link'
  readonly size: number
  /** Where a link points to. */
  readonly target?: string
}

/** What is in a context, and what is not though it could be thought to be. */
export interface Found {
  /** By path. */
  readonly files: readonly FoundFile[]
  /** Files that hold secrets, and folders of them, with a slash at the end; they are not sent for that. */
  readonly secrets: readonly string[]
  /** Sockets, pipes and devices. */
  readonly special: readonly string[]
}

/** How a folder is looked through. */
export interface WalkWish {
  readonly dockerfile: string
  readonly ignoreFile: IgnoreFile
  /** It ends when there are more files than this. */
  readonly limit: number
  readonly signal: AbortSignal
}

/** Finds what is to be sent of a folder. The container build file and the ignore file are, whatever the rules say. */
export async function walk(folder: string, wish: WalkWish): Promise<Found> {
  const walker = new Walker(await realpath(folder), wish)
  await walker.enter('', undefined, false)
  return walker.found()
}

class Walker {
  readonly #root: string
  readonly #ignoreFile: IgnoreFile
  readonly #needed: ReadonlySet<string>
  readonly #limit: number
  readonly #signal: AbortSignal
  readonly #files: FoundFile[] = []
  readonly #secrets: string[] = []
  readonly #special: string[] = []
  readonly #outside: string[] = []
  readonly #misnamed: string[] = []

  constructor(root: string, { dockerfile, ignoreFile, limit, signal }: WalkWish) {
    this.#root = root
    this.#limit = limit
    this.#ignoreFile = ignoreFile
    this.#needed = new Set([dockerfile, ...(ignoreFile.path === undefined ? [] : [ignoreFile.path])])
    this.#signal = signal
  }

  /** Looks into a folder; in an ignored one, only for what is taken back or needed. */
  async enter(folder: string, folderMet: Met | undefined, isIgnored: boolean): Promise<void> {
    const entries = await this.#read(folder)
    if (!isIgnored && (await this.#isVirtualEnvironment(folder, entries))) return
    const taken: (readonly [string, Dirent])[] = []
    const folders: (readonly [string, Met, boolean])[] = []
    for (const entry of entries) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      const { ignored, met } = this.#ignoreFile.rules.judge(path, folderMet)
      if (entry.isDirectory()) {
        if (!ignored && isSecretFile(`${path}/`)) this.#secrets.push(`${path}/`)
        else if (await this.#canEnter(path, ignored)) folders.push([path, met, ignored])
      } else if (!ignored || this.#needed.has(path)) taken.push([path, entry])
    }
    const room = Math.max(0, this.#limit + 1 - this.#files.length)
    await inBatches(taken.slice(0, room), this.#signal, ([path, entry]) => this.#take(path, entry))
    for (const [path, met, ignored] of folders) {
      this.#signal.throwIfAborted()
      if (this.#files.length > this.#limit) return
      await this.enter(path, met, ignored)
    }
  }

  found(): Found {
    const { length } = this.#misnamed
    if (length > 0) {
      const shown = this.#misnamed.toSorted().slice(0, SHOWN_NAMES)
      const rest = length > SHOWN_NAMES ? [`and ${length - SHOWN_NAMES} more`] : []
      const list = [...shown, ...rest].map((one) => `  ${one}`).join('\n')
      throw new ContextError(
        'NAME_INVALID',
        `Files cannot be sent because of their names:\n${list}\nRename each, or leave it out in .dockerignore.`,
      )
    }
    if (this.#outside.length > 0) {
      const list = this.#outside.map((one) => `  ${one}`).join('\n')
      throw new ContextError(
        'LINK_OUTSIDE',
        `Links that lead out of the folder, or may, cannot be sent:\n${list}\nReplace each by the file itself, or leave it out in .dockerignore.`,
      )
    }
    const files = this.#files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
    return { files, secrets: this.#secrets.toSorted(), special: this.#special.toSorted() }
  }

  async #take(path: string, entry: Dirent): Promise<void> {
    if (isSecretFile(path)) this.#secrets.push(path)
    else if (!entry.isSymbolicLink() && !entry.isFile()) this.#special.push(path)
    else if (!(await this.#hasName(path, pathProblem(path)))) return
    else if (entry.isSymbolicLink()) await this.#takeLink(path)
    else {
      const { size, mode } = await this.#do(path, () => lstat(join(this.#root, path)))
      this.#files.push({ path, kind: (mode & 0o111) === 0 ? 'file' : 'executable', size })
    }
  }

  /** Whether something has a name that can be sent; if not, that is told at the end. */
  async #hasName(path: string, known: string | undefined): Promise<boolean> {
    const problem = known ?? ((await this.#isGarbled(path)) ? 'is not UTF-8' : undefined)
    if (problem !== undefined) this.#misnamed.push(`${shownPath(path)} ${problem}`)
    return problem === undefined
  }

  /** What was read as a name leads nowhere if its bytes could not be read. */
  async #isGarbled(path: string): Promise<boolean> {
    if (!path.includes(REPLACEMENT)) return false
    return lstat(join(this.#root, path)).then(
      () => false,
      () => true,
    )
  }

  async #takeLink(path: string): Promise<void> {
    const file = join(this.#root, path)
    const bytes = await this.#do(path, () => readlink(file, { encoding: 'buffer' }))
    const target = bytes.toString()
    if (!isUtf8(bytes) || hasControl(target)) {
      this.#misnamed.push(
        `${shownPath(path)} is a link to ${shownPath(target)}, which is no path of plain text`,
      )
      return
    }
    const place = posix.normalize(posix.join(posix.dirname(path), target))
    // Behind another link, a way up may lead anywhere.
    const parts = target.split('/').filter((part) => part !== '' && part !== '.')
    const turns = parts.some((part, index) => part === '..' && index > 0 && parts[index - 1] !== '..')
    // What a link leads to can itself be a link; one that leads nowhere is judged by its words alone.
    const end = await realpath(file).catch(() => undefined)
    const leaves = (way: string) => way === '..' || way.startsWith('../') || isAbsolute(way)
    if (
      isAbsolute(target) ||
      turns ||
      leaves(place) ||
      (end !== undefined && leaves(relative(this.#root, end)))
    ) {
      this.#outside.push(`${path} -> ${target}`)
      return
    }
    this.#files.push({ path, kind: 'link', size: Buffer.byteLength(target), target })
  }

  async #canEnter(path: string, ignored: boolean): Promise<boolean> {
    if (!ignored) return this.#hasName(path, lengthProblem(path))
    return this.#isWorthEntering(path) && !(await this.#isGarbled(path))
  }

  #isWorthEntering(folder: string): boolean {
    return (
      this.#ignoreFile.rules.mayKeepInside(folder) ||
      [...this.#needed].some((path) => path.startsWith(`${folder}/`))
    )
  }

  /** Only where no ignore file says what is wanted. */
  async #isVirtualEnvironment(folder: string, entries: readonly Dirent[]): Promise<boolean> {
    if (this.#ignoreFile.path !== undefined || folder === '') return false
    if ([...this.#needed].some((path) => dirname(path) === folder)) return false
    return entries.some((entry) => entry.name === 'pyvenv.cfg')
  }

  async #read(folder: string): Promise<readonly Dirent[]> {
    return this.#do(folder, () => readdir(join(this.#root, folder), { withFileTypes: true }))
  }

  async #do<T>(path: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw unreadable(path, error)
    }
  }
}

/** Checks that the container build file is there, and is a file. */
export async function checkDockerfile(folder: string, dockerfile: string): Promise<void> {
  const found = await stat(join(folder, dockerfile)).catch(() => undefined)
  if (found?.isFile()) return
  const what = found === undefined ? 'There is no' : 'It is no file:'
  throw new ContextError(
    'DOCKERFILE_MISSING',
    `${what} ${dockerfile} in ${folder}. Name the container build file by --dockerfile, or in deploy.toml. "botcli init" makes a project that has one.`,
  )
}
