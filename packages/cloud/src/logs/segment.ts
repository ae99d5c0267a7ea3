import type { OpenFiles } from './open-files.ts'
import { type Place, SparseIndex } from './sparse-index.ts'

/** A place is remembered after so many lines or bytes, whatever comes first: so much must be searched for a line at most, about. */
export const LINES_A_PLACE = 32
/** The most bytes between two places of an index. */
export const BYTES_A_PLACE = 32 * 1024

const NEWLINE = 10
/** Reads are synchronous, so that one buffer serves all of them. */
const scratch = Buffer.allocUnsafeSlow(64 * 1024)

/** One file of a log: lines as JSON strings, each with `,\n` after it. */
export class Segment {
  readonly path: string
  /** The number of its first line in the log. */
  readonly first: number
  readonly index: SparseIndex
  #lines = 0
  #bytes = 0
  /** The line that was searched for last: whoever polls asks for the same again. */
  #found: Place = { line: 0, offset: 0 }

  constructor(path: string, first: number, index = new SparseIndex()) {
    this.path = path
    this.first = first
    this.index = index
  }

  /** A segment whose places are known. */
  static known(
    path: string,
    size: { first: number; lines: number; bytes: number },
    index: SparseIndex,
  ): Segment {
    const segment = new Segment(path, size.first, index)
    segment.#lines = size.lines
    segment.#bytes = size.bytes
    return segment
  }

  get lines(): number {
    return this.#lines
  }

  get bytes(): number {
    return this.#bytes
  }

  /** One more than the number of its last line. */
  get end(): number {
    return this.first + this.#lines
  }

  /** Counts lines that were written to its end. */
  grow(lines: number, bytes: number): void {
    const { line, offset } = this.index.last
    if (this.#lines - line >= LINES_A_PLACE || this.#bytes - offset >= BYTES_A_PLACE) {
      this.index.add(this.#lines, this.#bytes)
    }
    this.#lines += lines
    this.#bytes += bytes
  }

  /** Where a line of the log begins in the file; the end for the line after the last. */
  offsetOf(number: number, files: OpenFiles): number {
    const line = number - this.first
    if (line >= this.#lines) return this.#bytes
    if (this.#found.line !== line) {
      const { from, until = this.#bytes } = this.index.around(line)
      if (from.line === line) return from.offset
      this.#found = { line, offset: this.#search(from, until, line - from.line, files) }
    }
    return this.#found.offset
  }

  /** Up to which line a batch goes that begins at a line and is about so many bytes long. It has at least one line. */
  batchEnd(number: number, offset: number, bytes: number): { readonly end: number; readonly offset: number } {
    if (this.#bytes - offset <= bytes) return { end: this.end, offset: this.#bytes }
    const line = number - this.first
    const before = this.index.beforeOffset(offset + bytes)
    const place = before.line > line ? before : this.index.afterLine(line)
    return place === undefined
      ? { end: this.end, offset: this.#bytes }
      : { end: this.first + place.line, offset: place.offset }
  }

  #search(from: Place, until: number, lines: number, files: OpenFiles): number {
    let left = lines
    for (let start = from.offset; start < until; start += scratch.length) {
      const part = scratch.subarray(0, Math.min(scratch.length, until - start))
      files.read(this.path, start, part, 0, part.length)
      let at = part.indexOf(NEWLINE)
      while (at >= 0) {
        left -= 1
        if (left === 0) return start + at + 1
        at = part.indexOf(NEWLINE, at + 1)
      }
    }
    throw new Error(`A log has fewer lines than it had: ${this.path}.`)
  }
}
