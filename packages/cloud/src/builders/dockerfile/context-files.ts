import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { nearest } from '../nearest.ts'
import { fileGlob } from './file-glob.ts'

/** The most entries that one pattern is compared with. */
const MAX_COMPARED = 200_000
/** Patterns with more folders than this are the engine's to judge. */
const MAX_PARTS = 64
/** A slip of the pen is looked for among so many names. */
const MAX_NEAR = 2000

/** Answers what is in a context, without ever leaving it. */
export class ContextFiles {
  readonly #root: string

  constructor(root: string) {
    this.#root = root
  }

  /** Whether a source of a COPY names anything here. */
  async has(source: string): Promise<boolean> {
    const parts = source.split('/').filter((part) => part !== '' && part !== '.')
    if (!/[*?[\\]/.test(source)) return await this.#exists(parts.join('/'))
    if (parts.length > MAX_PARTS) return true
    const budget = { left: MAX_COMPARED }
    return await this.#matches('', parts, budget)
  }

  /** The path that was probably meant. */
  async near(source: string): Promise<string | undefined> {
    const path = posix.normalize(source).replace(/^\/+/, '')
    const folder = dirname(path)
    const names = (await this.#names(folder)).slice(0, MAX_NEAR).map(({ name }) => name)
    const name = nearest(basename(path), names)
    if (name !== undefined) return folder === '.' ? name : `${folder}/${name}`
    // The right name in another place is the other usual slip.
    return (await this.find((candidate) => candidate === basename(path)))[0]
  }

  /** Files whose name a test takes, not deeper than two folders, in order. */
  async find(test: (name: string) => boolean): Promise<readonly string[]> {
    const found: string[] = []
    const visit = async (folder: string, depth: number): Promise<void> => {
      for (const entry of await this.#names(folder)) {
        const path = folder === '' ? entry.name : `${folder}/${entry.name}`
        if (test(entry.name) && !entry.isDirectory()) found.push(path)
        if (entry.isDirectory() && depth > 0 && entry.name !== 'node_modules') await visit(path, depth - 1)
      }
    }
    await visit('', 2)
    return found
  }

  async #exists(path: string): Promise<boolean> {
    return await lstat(join(this.#root, path)).then(
      () => true,
      () => false,
    )
  }

  async #names(folder: string) {
    const entries = await readdir(join(this.#root, folder), { withFileTypes: true }).catch(() => [])
    return entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  }

  async #matches(folder: string, parts: readonly string[], budget: { left: number }): Promise<boolean> {
    const [part, ...rest] = parts
    if (part === undefined) return true
    if (part === '**' && (await this.#matches(folder, rest, budget))) return true
    const fits = part === '**' ? () => true : fileGlob(part)
    for (const entry of await this.#names(folder)) {
      budget.left -= 1
      // Too large to tell: the engine will.
      if (budget.left < 0) return true
      if (!fits(entry.name)) continue
      if (rest.length === 0) return true
      if (!entry.isDirectory()) continue
      if (await this.#matches(join(folder, entry.name), part === '**' ? parts : rest, budget)) return true
    }
    return false
  }
}
