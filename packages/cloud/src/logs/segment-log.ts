import { FilePage, type PagePart } from './log-page.ts'
import type { LogSlice, LogState } from './log-store.ts'
import type { OpenFiles } from './open-files.ts'
import type { Segment } from './segment.ts'

/** About how long a batch for a follower is that has to catch up. */
const BATCH_BYTES = 256 * 1024
/** Batches that followers can share. They stand close together as a rule. */
const SHARED_BATCHES = 8
/** A batch this long is worth to be shared even when more has come since. */
const WORTHWHILE_BYTES = BATCH_BYTES / 4
const SEPARATOR_BYTES = 2

/** Who must be told when a log has changed. */
export interface LogListener {
  changed(): void
}

/** What a log needs of its writer: lines that are not in the file yet. */
export interface PendingLines {
  readonly pendingLines: number
  /** Writes them to the file. */
  drain(): void
}

/** Lines that were left out, as a range of numbers. */
interface Gap {
  readonly first: number
  readonly end: number
}

/** One log in memory: where its lines are. The lines themselves are in its files. */
export class SegmentLog {
  readonly folder: string
  readonly segments: Segment[]
  /** Files to be removed when the log is opened for writing. */
  debris: readonly string[]
  writer: PendingLines | undefined
  /** Whether it was removed, or its store closed. */
  gone = false
  #sha256: string | undefined
  readonly #files: OpenFiles
  readonly #maxBytes: number
  /** Sets apart what was read in this run from what another run may have lost in a power cut. */
  readonly #run: string
  readonly #listeners = new Set<LogListener>()
  readonly #batches = new Map<number, LogSlice>()

  constructor(
    folder: string,
    found: { segments: Segment[]; debris: readonly string[]; seal?: { sha256: string } },
    { files, maxBytes, run }: { files: OpenFiles; maxBytes: number; run: string },
  ) {
    this.folder = folder
    this.segments = found.segments
    this.debris = found.debris
    this.#sha256 = found.seal?.sha256
    this.#files = files
    this.#maxBytes = maxBytes
    this.#run = run
  }

  /** Whether it can be forgotten and read again later. */
  get idle(): boolean {
    return this.writer === undefined && this.#listeners.size === 0
  }

  get followed(): boolean {
    return this.#listeners.size > 0
  }

  /** What it takes in memory, in places of its indexes. */
  get cost(): number {
    return this.segments.reduce((sum, { index }) => sum + index.size, 1)
  }

  get sealed(): boolean {
    return this.#sha256 !== undefined
  }

  /** One more than the number of the last line that is in a file. */
  get writtenEnd(): number {
    return this.segments.at(-1)?.end ?? 0
  }

  get end(): number {
    return this.writtenEnd + (this.writer?.pendingLines ?? 0)
  }

  get state(): LogState {
    const { end, sealed } = this
    return this.#sha256 === undefined ? { end, sealed } : { end, sealed, sha256: this.#sha256 }
  }

  seal(sha256: string): void {
    this.#sha256 = sha256
    this.announce()
  }

  listen(listener: LogListener): void {
    this.#listeners.add(listener)
  }

  unlisten(listener: LogListener): void {
    this.#listeners.delete(listener)
    if (this.#listeners.size === 0) this.#batches.clear()
  }

  announce(): void {
    for (const listener of this.#listeners) listener.changed()
  }

  /** Gives followers what was just written, so that nobody needs to read it. */
  share(batch: LogSlice): void {
    this.#batches.delete(batch.first)
    this.#batches.set(batch.first, batch)
    for (const oldest of this.#batches.keys()) {
      if (this.#batches.size <= SHARED_BATCHES) break
      this.#batches.delete(oldest)
    }
  }

  /** The newest lines before a number. */
  page(before: number, limit: number): FilePage {
    this.writer?.drain()
    const end = Math.min(before, this.writtenEnd)
    const gap = this.#gap()
    if (gap === undefined || end <= gap.first) {
      const first = Math.max(0, end - limit)
      return this.#pageOf(first, end, end - first, this.#parts(first, end))
    }
    const inTail = Math.max(0, end - gap.end)
    if (limit <= inTail) return this.#pageOf(end - limit, end, limit, this.#parts(end - limit, end))
    const inHead = Math.min(gap.first, limit - inTail - 1)
    const first = gap.first - inHead
    const parts = this.#parts(first, gap.first)
    parts.push({ line: this.#gapLine(gap.first, Math.min(end, gap.end)) }, ...this.#parts(gap.end, end))
    return this.#pageOf(first, end, inHead + 1 + inTail, parts)
  }

  /** The next lines for a follower from a number on, of those that are in files; nothing when there are none. */
  batch(from: number): LogSlice | undefined {
    const end = this.writtenEnd
    if (from >= end) return undefined
    const shared = this.#batches.get(from)
    if (shared !== undefined && (shared.end === end || shared.body.length >= WORTHWHILE_BYTES)) return shared
    const batch = this.#readBatch(from)
    this.share(batch)
    return batch
  }

  /** All lines as they are kept. */
  all(): FilePage {
    return this.page(this.writtenEnd, Number.POSITIVE_INFINITY)
  }

  #readBatch(from: number): LogSlice {
    const gap = this.#gap()
    if (gap !== undefined && from >= gap.first && from < gap.end) {
      const line = this.#gapLine(from, gap.end)
      return { first: from, end: gap.end, count: 1, body: line.subarray(0, line.length - SEPARATOR_BYTES) }
    }
    const segment = this.#segmentOf(from)
    const start = segment.offsetOf(from, this.#files)
    const stop = segment.batchEnd(from, start, BATCH_BYTES)
    const body = Buffer.allocUnsafeSlow(stop.offset - start - SEPARATOR_BYTES)
    this.#files.read(segment.path, start, body, 0, body.length)
    return { first: from, end: stop.end, count: stop.end - from, body }
  }

  #gap(): Gap | undefined {
    const [head, next] = this.segments
    return head === undefined || next === undefined || next.first === head.end
      ? undefined
      : { first: head.end, end: next.first }
  }

  #gapLine(first: number, end: number): Uint8Array {
    const count = end - first
    const lines = count === 1 ? '1 line was' : `${count} lines were`
    const text = `[${lines} left out here: a log is kept up to ${sizeText(this.#maxBytes)}, its start and its end]`
    return Buffer.from(`${JSON.stringify(text)},\n`)
  }

  #segmentOf(number: number): Segment {
    const found = this.segments.findLast(({ first }) => first <= number)
    if (found === undefined) throw new Error(`There is no line ${number} in ${this.folder}.`)
    return found
  }

  /** Where these lines are. None of them is left out. */
  #parts(first: number, end: number): PagePart[] {
    const parts: PagePart[] = []
    for (const segment of this.segments) {
      if (segment.end <= first || segment.first >= end) continue
      // In this order, because the line before which a page ends is the one with which the page asked for before it began.
      const to = end >= segment.end ? segment.bytes : segment.offsetOf(end, this.#files)
      const from = first <= segment.first ? 0 : segment.offsetOf(first, this.#files)
      parts.push({ segment, from, to })
    }
    return parts
  }

  #pageOf(first: number, end: number, count: number, parts: PagePart[]): FilePage {
    const version = this.#sha256?.slice(0, 16) ?? this.#run
    const tag = `${version}-${first}-${end}-${this.#gap()?.end ?? 0}`
    return new FilePage({ first, end, count, tag }, parts, this.#files)
  }
}

function sizeText(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024
  return mebibytes >= 1 ? `${Number(mebibytes.toFixed(1))} MiB` : `${bytes} bytes`
}
