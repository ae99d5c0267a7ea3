/** Sound that waits, in the pieces in which it came. It keeps what is pushed, so the giver must not reuse it. */
export class SampleQueue {
  #chunks: Int16Array[] = []
  /** Chunks before this one were read; they are let go in one go, so reading costs no shifting. */
  #head = 0
  /** Samples of the head chunk that were read. */
  #offset = 0
  #length = 0

  /** Samples that wait. */
  get length(): number {
    return this.#length
  }

  push(samples: Int16Array): void {
    if (samples.length === 0) return
    this.#chunks.push(samples)
    this.#length += samples.length
  }

  /** Takes the oldest `count` samples, or fewer when there are not as many. */
  read(count: number): Int16Array {
    const wanted = Math.min(count, this.#length)
    const first = this.#take(wanted)
    if (first.length === wanted) return first
    const samples = new Int16Array(wanted)
    samples.set(first)
    let filled = first.length
    while (filled < wanted) {
      const part = this.#take(wanted - filled)
      samples.set(part, filled)
      filled += part.length
    }
    return samples
  }

  /** Drops everything and says how many samples that was. */
  clear(): number {
    const dropped = this.#length
    this.#chunks = []
    this.#head = 0
    this.#offset = 0
    this.#length = 0
    return dropped
  }

  /** Up to `count` samples of the head chunk, without a copy. */
  #take(count: number): Int16Array {
    const chunk = this.#chunks[this.#head]
    if (chunk === undefined) return new Int16Array(0)
    const part = chunk.subarray(this.#offset, this.#offset + count)
    this.#offset += part.length
    this.#length -= part.length
    if (this.#offset === chunk.length) this.#dropHead()
    return part
  }

  #dropHead(): void {
    this.#head += 1
    this.#offset = 0
    if (this.#head === this.#chunks.length || this.#head >= 256) {
      this.#chunks = this.#chunks.slice(this.#head)
      this.#head = 0
    }
  }
}
