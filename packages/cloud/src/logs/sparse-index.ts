/** A known place in a segment: where one of its lines begins. Both count from the start of the segment. */
export interface Place {
  readonly line: number
  readonly offset: number
}

const START: Place = { line: 0, offset: 0 }
const NUMBER_BYTES = 8

/** Where some of the lines of a segment begin, in order; a line between two of them is found by counting newlines. */
export class SparseIndex {
  readonly #lines: number[] = []
  readonly #offsets: number[] = []

  /** How many places it holds, without the start. */
  get size(): number {
    return this.#lines.length
  }

  get last(): Place {
    return this.#at(this.#lines.length - 1)
  }

  add(line: number, offset: number): void {
    this.#lines.push(line)
    this.#offsets.push(offset)
  }

  /** The last place at or before a line, and the offset of the one after it. */
  around(line: number): { readonly from: Place; readonly until: number | undefined } {
    const index = lastAtMost(this.#lines, line)
    return { from: this.#at(index), until: this.#offsets[index + 1] }
  }

  /** The last place at or before an offset. */
  beforeOffset(offset: number): Place {
    return this.#at(lastAtMost(this.#offsets, offset))
  }

  /** The first place after a line, if there is one. */
  afterLine(line: number): Place | undefined {
    const index = lastAtMost(this.#lines, line) + 1
    return index < this.#lines.length ? this.#at(index) : undefined
  }

  /** As bytes that `fromBytes` takes. */
  toBytes(): Buffer {
    const bytes = Buffer.allocUnsafe(this.size * 2 * NUMBER_BYTES)
    for (let index = 0; index < this.size; index += 1) {
      const { line, offset } = this.#at(index)
      bytes.writeDoubleLE(line, index * 2 * NUMBER_BYTES)
      bytes.writeDoubleLE(offset, (index * 2 + 1) * NUMBER_BYTES)
    }
    return bytes
  }

  static byteLength(size: number): number {
    return size * 2 * NUMBER_BYTES
  }

  static fromBytes(bytes: Buffer): SparseIndex {
    const index = new SparseIndex()
    for (let at = 0; at < bytes.length; at += 2 * NUMBER_BYTES) {
      index.add(bytes.readDoubleLE(at), bytes.readDoubleLE(at + NUMBER_BYTES))
    }
    return index
  }

  #at(index: number): Place {
    if (index < 0) return START
    return { line: this.#lines[index] ?? 0, offset: this.#offsets[index] ?? 0 }
  }
}

/** The index of the last number that is at most a limit, or -1. The numbers rise. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) <= limit) low = middle + 1
    else high = middle
  }
  return low - 1
}
