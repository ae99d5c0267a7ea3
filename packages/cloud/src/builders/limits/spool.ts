import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'

const EVERY_MS = 50
const PIECE = 64 * 1024
const { O_WRONLY, O_CREAT, O_TRUNC, O_APPEND } = constants

/** A file that a command writes its output into while we read it: however slow we are, the command never waits, and nothing is lost. */
export class Spool {
  readonly #written: FileHandle
  readonly #read: FileHandle
  readonly #output: (bytes: Uint8Array) => void
  #position = 0
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> = Promise.resolve()

  private constructor(written: FileHandle, read: FileHandle, output: (bytes: Uint8Array) => void) {
    this.#written = written
    this.#read = read
    this.#output = output
    this.#wait()
  }

  static async open(path: string, output: (bytes: Uint8Array) => void): Promise<Spool> {
    const written = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0o600)
    try {
      return new Spool(written, await open(path, 'r'), output)
    } catch (error) {
      await written.close()
      throw error
    }
  }

  /** For the command. */
  get fd(): number {
    return this.#written.fd
  }

  /** Reads what is left, and closes it. */
  async close(): Promise<void> {
    clearTimeout(this.#timer)
    try {
      await this.#reading
      clearTimeout(this.#timer)
      await this.#drain()
    } finally {
      await this.#written.close()
      await this.#read.close()
    }
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      // What cannot be read now is read at the end, and that says why it cannot.
      this.#reading = this.#drain().then(
        () => this.#wait(),
        () => undefined,
      )
    }, EVERY_MS)
  }

  /** Reads on to what was the end when it began, so that it ends even if somebody writes on. */
  async #drain(): Promise<void> {
    const { size } = await this.#read.stat()
    for (let left = size - this.#position; left > 0; ) {
      const { bytesRead, buffer } = await this.#read.read(Buffer.alloc(PIECE), 0, PIECE, this.#position)
      if (bytesRead === 0) return
      this.#position += bytesRead
      left -= bytesRead
      this.#output(buffer.subarray(0, bytesRead))
    }
  }
}
