import { closeSync, openSync, readSync } from 'node:fs'

/** Files that are open for reading, so many and no more; the one that was not used for longest is closed first. */
export class OpenFiles {
  readonly #limit: number
  readonly #descriptors = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  get count(): number {
    return this.#descriptors.size
  }

  /** Reads exactly so many bytes of a file from a position on, to a place in a buffer. */
  read(path: string, position: number, target: Uint8Array, offset: number, length: number): void {
    const descriptor = this.#open(path)
    for (let done = 0; done < length; ) {
      const count = readSync(descriptor, target, offset + done, length - done, position + done)
      if (count === 0)
        throw new Error(`A log is shorter than it was: nothing at byte ${position + done} of ${path}.`)
      done += count
    }
  }

  /** Closes a file, if it is open. */
  drop(path: string): void {
    const descriptor = this.#descriptors.get(path)
    if (descriptor === undefined) return
    this.#descriptors.delete(path)
    closeSync(descriptor)
  }

  close(): void {
    for (const path of [...this.#descriptors.keys()]) this.drop(path)
  }

  #open(path: string): number {
    let descriptor = this.#descriptors.get(path)
    if (descriptor !== undefined) {
      this.#descriptors.delete(path)
    } else {
      descriptor = openSync(path, 'r')
      for (const oldest of this.#descriptors.keys()) {
        if (this.#descriptors.size < this.#limit) break
        this.drop(oldest)
      }
    }
    this.#descriptors.set(path, descriptor)
    return descriptor
  }
}
