import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, symlinkSync } from 'node:fs'
import { mkdtemp, rmdir, symlink, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeOf } from '../errors.ts'

const LINK = 'i'

/**
 * A way to a folder by a short path: a folder for temporary files with a link in it. Such folders are swept now and then, and whoever
 * comes first makes the next one of that name.
 */
export class FolderShortcut {
  readonly #target: string
  #folder: string

  /** One that was made before, and may be gone. */
  constructor(folder: string, target: string) {
    this.#folder = folder
    this.#target = target
  }

  static async make(target: string): Promise<FolderShortcut> {
    const shortcut = new FolderShortcut(await mkdtemp(prefix()), target)
    try {
      await symlink(target, shortcut.link)
      return shortcut
    } catch (error) {
      await shortcut.remove()
      throw error
    }
  }

  get folder(): string {
    return this.#folder
  }

  /** The short path. */
  get link(): string {
    return join(this.#folder, LINK)
  }

  /** Makes it again if it is gone, and elsewhere if somebody else is in its place. It is asked for before each use, so it does not wait. */
  mend(): void {
    if (!isOurs(this.#folder) && !isMade(this.#folder)) this.#folder = mkdtempSync(prefix())
    if (targetOf(this.link) === this.#target) return
    rmSync(this.link, { recursive: true, force: true })
    symlinkSync(this.#target, this.link)
  }

  /** Removes it, if it is still ours. */
  async remove(): Promise<void> {
    if (!isOurs(this.#folder)) return
    await unlink(this.link).catch(unlessGone)
    await rmdir(this.#folder).catch(unlessGone)
  }
}

function prefix(): string {
  return join(tmpdir(), 'botcli-')
}

function isOurs(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  return found?.isDirectory() === true && found.uid === (process.getuid?.() ?? found.uid)
}

function isMade(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 })
    return true
  } catch {
    return false
  }
}

function targetOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch {
    return undefined
  }
}

function unlessGone(error: unknown): void {
  if (codeOf(error) !== 'ENOENT') throw error
}
