import { lstat, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '../errors.ts'
import type { InstanceFolder } from './instance-folder.ts'

const LOOK_EVERY_MS = 40

/**
 * Takes the socket of an instance out of the folder that its bot can write, as soon as it is there. A bot could put a link in its place, and
 * we would talk to whatever that leads to; a file that was moved away is out of its hands, and goes on to be listened on.
 */
export class InstanceDoor {
  readonly #folder: InstanceFolder
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(folder: InstanceFolder) {
    this.#folder = folder
    this.#look()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  async #look(): Promise<void> {
    const isTaken = await this.#take().catch(() => false)
    if (!isTaken && !this.#isClosed) this.#timer = setTimeout(() => this.#look(), LOOK_EVERY_MS)
  }

  /** Whether the socket is where it is connected to. */
  async #take(): Promise<boolean> {
    const between = join(this.#folder.path, 'socket.part')
    try {
      await rename(join(this.#folder.door, 'socket'), between)
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
      // One that an earlier process has taken.
      return await isSocket(this.#folder.socket)
    }
    if (await isSocket(between)) {
      await rename(between, this.#folder.socket)
      return true
    }
    // A folder stays until its instance is gone: as long as its bot can still change it, what is removed below it may be something else.
    await unlink(between)
    return false
  }
}

async function isSocket(path: string): Promise<boolean> {
  return await lstat(path).then(
    (found) => found.isSocket(),
    () => false,
  )
}
