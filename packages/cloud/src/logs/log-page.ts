import { closeSync, openSync, read } from 'node:fs'
import { promisify } from 'node:util'
import type { LogPage } from './log-store.ts'
import type { OpenFiles } from './open-files.ts'
import type { Segment } from './segment.ts'

/** A part of a page: bytes of a file, or a line of our own. Each line has `,\n` after it. */
export type PagePart =
  | { readonly segment: Segment; readonly from: number; readonly to: number }
  | { readonly line: Uint8Array }

/** What stands after the last line of a page and is not sent. */
const SEPARATOR_BYTES = 2
const PIECE_BYTES = 256 * 1024
const readAsync = promisify(read)

/** A page of a log that lies in files. */
export class FilePage implements LogPage {
  readonly first: number
  readonly end: number
  readonly count: number
  readonly tag: string
  readonly bytes: number
  readonly #parts: readonly PagePart[]
  readonly #files: OpenFiles

  constructor(
    range: { first: number; end: number; count: number; tag: string },
    parts: readonly PagePart[],
    files: OpenFiles,
  ) {
    this.first = range.first
    this.end = range.end
    this.count = range.count
    this.tag = range.tag
    this.#parts = parts
    this.#files = files
    let bytes = 0
    for (const part of parts) bytes += lengthOf(part)
    this.bytes = Math.max(0, bytes - SEPARATOR_BYTES)
  }

  copyTo(target: Uint8Array, offset = 0): void {
    let left = this.bytes
    for (const part of this.#parts) {
      const at = offset + this.bytes - left
      const length = Math.min(lengthOf(part), left)
      if ('line' in part) target.set(part.line.subarray(0, length), at)
      else this.#files.read(part.segment.path, part.from, target, at, length)
      left -= length
    }
  }

  /** The files are opened with the first piece, so that they can be read to their end even when the log drops them meanwhile. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    const descriptors = new Map<string, number>()
    const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, this.bytes))
    let left = this.bytes
    try {
      for (const part of this.#parts) {
        if ('segment' in part) descriptors.set(part.segment.path, openSync(part.segment.path, 'r'))
      }
      for (const part of this.#parts) {
        if ('line' in part) {
          yield part.line.subarray(0, left)
          left -= Math.min(left, part.line.length)
          continue
        }
        for (let at = part.from; at < part.to && left > 0; ) {
          const descriptor = descriptors.get(part.segment.path) ?? -1
          const { bytesRead } = await readAsync(
            descriptor,
            buffer,
            0,
            Math.min(buffer.length, part.to - at, left),
            at,
          )
          if (bytesRead === 0) throw new Error(`A log is shorter than it was: ${part.segment.path}.`)
          yield buffer.subarray(0, bytesRead)
          at += bytesRead
          left -= bytesRead
        }
      }
    } finally {
      for (const descriptor of descriptors.values()) closeSync(descriptor)
    }
  }
}

function lengthOf(part: PagePart): number {
  return 'line' in part ? part.line.length : part.to - part.from
}
