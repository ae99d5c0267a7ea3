const SMALLEST = 64 * 1024
/** What may lie around unused. */
const MAX_IDLE_BYTES = 16 * 1024 * 1024

/** Buffers for answers, used again: a new large buffer costs more than what is read into it. */
export class ResponseBuffers {
  readonly #idle = new Map<number, Buffer[]>()
  #idleBytes = 0

  /** A buffer of at least so many bytes. */
  take(bytes: number): Buffer {
    const size = sizeFor(bytes)
    const buffer = this.#idle.get(size)?.pop()
    if (buffer === undefined) return Buffer.allocUnsafeSlow(size)
    this.#idleBytes -= size
    return buffer
  }

  /** Gives a buffer back that nobody reads any more. */
  give(buffer: Buffer): void {
    if (this.#idleBytes + buffer.length > MAX_IDLE_BYTES) return
    this.#idleBytes += buffer.length
    const others = this.#idle.get(buffer.length)
    if (others === undefined) this.#idle.set(buffer.length, [buffer])
    else others.push(buffer)
  }
}

function sizeFor(bytes: number): number {
  return Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)))
}
