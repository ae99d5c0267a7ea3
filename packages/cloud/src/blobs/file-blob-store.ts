import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { diskFull, isDiskFull } from '../disk-full.ts'
import { CloudError } from '../errors.ts'
import type { BlobStore } from './blob-store.ts'

const PART = '.part'

/** Blobs as files of one folder. A blob is there with all its bytes, or not at all. */
export class FileBlobStore implements BlobStore {
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Opens a folder. What a killed process has left half written is removed. */
  static async open(folder: string): Promise<FileBlobStore> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const leftovers = (await readdir(folder)).filter((name) => name.endsWith(PART))
    await Promise.all(leftovers.map((name) => rm(join(folder, name), { force: true })))
    return new FileBlobStore(folder)
  }

  async put(name: string, content: Readable, maxBytes: number): Promise<{ readonly size: number }> {
    const draft = join(this.#folder, `${randomUUID()}${PART}`)
    let size = 0
    const counted = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        size += chunk.length
        if (size > maxBytes) done(tooLarge(maxBytes))
        else done(null, chunk)
      },
    })
    try {
      // Opened before anything can fail: a file that appears after it was removed would stay.
      const file = await open(draft, 'wx', 0o600)
      await pipeline(content, counted, file.createWriteStream({ flush: true }))
      await rename(draft, this.#path(name))
    } catch (error) {
      await rm(draft, { force: true })
      throw isDiskFull(error) ? diskFull(error) : error
    }
    return { size }
  }

  async size(name: string): Promise<number | undefined> {
    return orNothing(stat(this.#path(name)).then((found) => found.size))
  }

  async get(name: string): Promise<Readable | undefined> {
    const file = await orNothing(open(this.#path(name)))
    return file?.createReadStream()
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true })
  }

  #path(name: string): string {
    if (!/^[\w-]{1,100}$/.test(name)) throw new Error(`${JSON.stringify(name)} cannot be the name of a blob.`)
    return join(this.#folder, name)
  }
}

async function orNothing<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

function tooLarge(maxBytes: number): CloudError {
  return new CloudError('PAYLOAD_TOO_LARGE', `The file is larger than ${maxBytes} bytes.`)
}
