import type { ChunkRule } from './dialect.ts'

/** Makes pieces of the size that a carrier wants. Without a rule each step is a piece. */
export class ChunkPacker {
  readonly #rule: ChunkRule | undefined
  readonly #silenceByte: number
  readonly #send: (chunk: Uint8Array) => void
  #waiting: Uint8Array[] = []
  #length = 0

  constructor(rule: ChunkRule | undefined, silenceByte: number, send: (chunk: Uint8Array) => void) {
    this.#rule = rule
    this.#silenceByte = silenceByte
    this.#send = send
  }

  /** Adds a step of sound, and sends what is ready. */
  push(bytes: Uint8Array): void {
    if (this.#rule === undefined) {
      this.#send(bytes)
      return
    }
    this.#waiting.push(bytes)
    this.#length += bytes.length
    if (this.#length < this.#rule.minBytes) return
    const all = Buffer.concat(this.#waiting)
    const ready = all.length - (all.length % this.#rule.stepBytes)
    this.#keep(all.subarray(ready))
    this.#send(all.subarray(0, ready))
  }

  /** Sends what waits, with silence up to the next size that is allowed: the end of a word is never held back. */
  flush(): void {
    if (this.#rule === undefined || this.#length === 0) return
    const { minBytes, stepBytes } = this.#rule
    const size = Math.max(minBytes, Math.ceil(this.#length / stepBytes) * stepBytes)
    const chunk = Buffer.alloc(size, this.#silenceByte)
    Buffer.concat(this.#waiting).copy(chunk)
    this.clear()
    this.#send(chunk)
  }

  clear(): void {
    this.#keep(new Uint8Array())
  }

  #keep(rest: Uint8Array): void {
    this.#waiting = rest.length === 0 ? [] : [rest]
    this.#length = rest.length
  }
}
