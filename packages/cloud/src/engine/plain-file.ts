import { constants } from 'node:fs'
import { type FileHandle, lstat, open } from 'node:fs/promises'
import { codeOf } from '../errors.ts'

/** Why there is no plain file to be had at a path: nothing is there, something else is, or it does not let us. */
export type Refusal = 'gone' | 'strange' | 'locked'

// A link must not lead us elsewhere, and nothing that somebody has to write to or to let go of must stop us.
const FLAGS = constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY
/** Troubles of this process or its machine. Whoever owns a file cannot make them. */
const OUR_TROUBLES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EIO'])
const STRANGE: ReadonlySet<string> = new Set(['ELOOP', 'ENXIO', 'ENODEV', 'EISDIR', 'ENOTDIR'])

/**
 * Opens a file that a bot may have put there, which never waits and never leads elsewhere. Rejects only for what is no fault of whoever has
 * put it there.
 */
export async function openPlainFile(path: string, access: number): Promise<FileHandle | Refusal> {
  try {
    // Looked at first: there are devices that do something when they are opened.
    if (!(await lstat(path)).isFile()) return 'strange'
    const handle = await open(path, access | FLAGS)
    const isPlain = await isFile(handle)
    if (isPlain) return handle
    await handle.close()
    return 'strange'
  } catch (error) {
    return refusalOf(error)
  }
}

/** What an error of the system says of something that a bot has put there. Throws it if it says nothing of that. */
export function refusalOf(error: unknown): Refusal {
  const code = codeOf(error)
  if (code === '' || OUR_TROUBLES.has(code)) throw error
  if (code === 'ENOENT') return 'gone'
  return STRANGE.has(code) ? 'strange' : 'locked'
}

async function isFile(handle: FileHandle): Promise<boolean> {
  try {
    return (await handle.stat()).isFile()
  } catch (error) {
    await handle.close()
    throw error
  }
}
