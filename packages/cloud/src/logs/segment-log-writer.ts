import {
  closeSync,
  fdatasync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { CloudError } from '../errors.ts'
import { segmentPath, syncFolder, writeSeal } from './log-folder.ts'
import type { LogWriter } from './log-store.ts'
import { hashLines } from './log-text.ts'
import type { OpenFiles } from './open-files.ts'
import { LINES_A_PLACE, Segment } from './segment.ts'
import type { PendingLines, SegmentLog } from './segment-log.ts'

const PENDING_BYTES = 256 * 1024
/** Lines are encoded together up to so many characters. */
const CHUNK_CHARACTERS = 16 * 1024
/** A character takes at most so many bytes. */
const BYTES_A_CHARACTER = 3
const SEPARATOR_BYTES = 2
/** The tail is so many segments, of which the oldest goes when the log is full. The head is as long as all of them. */
const TAIL_SEGMENTS = 8
/** Lines that come one by one are written together after this time. */
const GROUP_MS = 5
const SYNC_MS = 1000
/** Segments that were written to their end and wait to be synced. */
const MAX_RETIRED = 16
const syncData = promisify(fdatasync)

/** Writes one log. Lines wait in memory until the end of the turn of the event loop, or until somebody reads the log. */
export class SegmentLogWriter implements LogWriter, PendingLines {
  readonly #log: SegmentLog
  readonly #files: OpenFiles
  readonly #maxBytes: number
  readonly #released: () => void
  #segment: Segment
  #descriptor: number
  #pending = Buffer.alloc(0)
  #used = 0
  /** Lines and bytes of the chunks that are pending, in turns. */
  #chunks: number[] = []
  #pendingLines = 0
  /** Calls off what will drain. */
  #endDrain: (() => void) | undefined
  #drainedAt = 0
  #syncTimer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined
  /** Open files of segments that are full, by their paths. */
  readonly #retired = new Map<string, number>()
  #newNames = true
  #unsynced = false
  #failure: CloudError | undefined
  #lost = 0
  #sealing: Promise<void> | undefined
  #state: 'open' | 'sealing' | 'closed' = 'open'

  constructor(log: SegmentLog, options: { files: OpenFiles; maxBytes: number; released: () => void }) {
    this.#log = log
    this.#files = options.files
    this.#maxBytes = options.maxBytes
    this.#released = options.released
    mkdirSync(log.folder, { recursive: true })
    for (const path of log.debris) rmSync(path, { force: true })
    log.debris = []
    const last = log.segments.at(-1)
    if (last === undefined) {
      this.#segment = new Segment(segmentPath(log.folder, 0), 0)
      this.#descriptor = openSync(this.#segment.path, 'w')
      log.segments.push(this.#segment)
    } else {
      this.#segment = last
      this.#descriptor = openSync(last.path, 'r+')
      // What stands after the last whole line is half of a line that nobody has seen.
      ftruncateSync(this.#descriptor, last.bytes)
    }
    log.writer = this
  }

  get pendingLines(): number {
    return this.#pendingLines
  }

  append(lines: readonly string[]): number {
    this.#refuseIfEnded()
    if (this.#failure !== undefined) throw this.#failure
    const first = this.#log.end
    let text = ''
    let count = 0
    const most = Math.min(CHUNK_CHARACTERS, this.#maxBytes / TAIL_SEGMENTS / 8)
    for (const line of lines) {
      text += `${JSON.stringify(line)},\n`
      count += 1
      if (count < LINES_A_PLACE && text.length < most) continue
      this.#place(text, count)
      text = ''
      count = 0
    }
    if (count > 0) this.#place(text, count)
    this.#drainSoon()
    return first
  }

  drain(): void {
    if (this.#used === 0) return
    const first = this.#segment.end
    const bytes = this.#pending.subarray(0, this.#used)
    try {
      writeFully(this.#descriptor, bytes, this.#segment.bytes)
    } catch (error) {
      this.#fail(error)
      return
    }
    for (let at = 0; at < this.#chunks.length; at += 2) {
      this.#segment.grow(this.#chunks[at] ?? 0, this.#chunks[at + 1] ?? 0)
    }
    if (this.#log.followed) {
      const body = Buffer.from(bytes.subarray(0, bytes.length - SEPARATOR_BYTES))
      this.#log.share({ first, end: this.#segment.end, count: this.#pendingLines, body })
    }
    this.#empty()
    this.#unsynced = true
    this.#drainedAt = performance.now()
    this.#syncTimer ??= setTimeout(() => this.#syncNow(), SYNC_MS).unref()
    this.#log.announce()
  }

  async flush(): Promise<void> {
    this.#refuseIfEnded()
    this.drain()
    await this.#sync()
    if (this.#failure !== undefined) throw this.#failure
  }

  async seal(): Promise<void> {
    this.#refuseIfEnded()
    this.#tellOfLost()
    this.#state = 'sealing'
    this.#sealing = this.#seal()
    await this.#sealing
  }

  async close(): Promise<void> {
    await this.#sealing?.catch(() => {})
    if (this.#state === 'closed') return
    this.drain()
    try {
      await this.#sync()
    } finally {
      await this.#end()
    }
  }

  async #seal(): Promise<void> {
    try {
      this.drain()
      await this.#sync()
      if (this.#failure !== undefined) throw this.#failure
      const sha256 = await hashLines(this.#log.all())
      await writeSeal(this.#log.folder, this.#log.segments, sha256)
      await this.#end()
      this.#log.seal(sha256)
    } catch (error) {
      if (this.#state === 'sealing') this.#state = 'open'
      throw error
    }
  }

  #refuseIfEnded(): void {
    if (this.#state === 'open') return
    throw new CloudError(
      'CONFLICT',
      `The log in ${this.#log.folder} takes no more lines: it is ${this.#state === 'closed' ? 'closed' : 'being sealed'}.`,
    )
  }

  /** Encodes lines behind those that are pending, or at the start of the next segment. */
  #place(text: string, lines: number): void {
    const most = text.length * BYTES_A_CHARACTER
    if (this.#used + most > this.#pending.length) {
      this.drain()
      if (this.#failure !== undefined) throw this.#failure
      if (this.#pending.length < most) this.#pending = Buffer.allocUnsafeSlow(Math.max(most, PENDING_BYTES))
    }
    const bytes = this.#pending.write(text, this.#used)
    const taken = this.#segment.bytes + this.#used
    if (taken > 0 && taken + bytes > this.#segmentBytes()) {
      const from = this.#used
      this.drain()
      if (this.#failure !== undefined) throw this.#failure
      this.#pending.copyWithin(0, from, from + bytes)
      this.#rotate(bytes)
    }
    this.#used += bytes
    this.#pendingLines += lines
    const last = this.#chunks.length - 2
    const linesBefore = this.#chunks[last] ?? LINES_A_PLACE
    const bytesBefore = this.#chunks[last + 1] ?? 0
    if (linesBefore + lines <= LINES_A_PLACE && bytesBefore + bytes <= CHUNK_CHARACTERS) {
      this.#chunks[last] = linesBefore + lines
      this.#chunks[last + 1] = bytesBefore + bytes
    } else {
      this.#chunks.push(lines, bytes)
    }
  }

  /** How long the segment that is written to may become. */
  #segmentBytes(): number {
    return this.#log.segments.length === 1 ? this.#maxBytes / 2 : this.#maxBytes / 2 / TAIL_SEGMENTS
  }

  /** Goes on in a new segment, and drops the oldest of the tail when the log is full. */
  #rotate(bytes: number): void {
    const { segments } = this.#log
    const segment = new Segment(segmentPath(this.#log.folder, this.#segment.end), this.#segment.end)
    try {
      const descriptor = openSync(segment.path, 'w')
      this.#retired.set(this.#segment.path, this.#descriptor)
      this.#descriptor = descriptor
      while (
        segments.length > 2 &&
        tailBytes(segments) + Math.max(bytes, this.#segmentBytes()) > this.#maxBytes / 2
      ) {
        const [dropped] = segments.splice(1, 1)
        if (dropped === undefined) break
        this.#drop(dropped)
      }
      if (this.#retired.size > MAX_RETIRED) this.#syncRetired()
    } catch (error) {
      this.#fail(error)
      throw this.#failure ?? error
    }
    segments.push(segment)
    this.#segment = segment
    this.#newNames = true
  }

  #drop({ path }: Segment): void {
    this.#files.drop(path)
    const descriptor = this.#retired.get(path)
    this.#retired.delete(path)
    if (descriptor !== undefined) closeSync(descriptor)
    rmSync(path, { force: true })
  }

  #empty(): void {
    this.#used = 0
    this.#pendingLines = 0
    this.#chunks = []
  }

  /** Pending lines are given up: nobody has seen them yet, and nothing comes after them. */
  #fail(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error)
    this.#lost += this.#pendingLines
    this.#empty()
    this.#failure ??= new CloudError('UNAVAILABLE', `The log cannot be written: ${why}.`, { cause: error })
    try {
      ftruncateSync(this.#descriptor, this.#segment.bytes)
    } catch {
      // It is done again when the log is next opened.
    }
  }

  /** A log that lost lines does not look complete. */
  #tellOfLost(): void {
    if (this.#failure === undefined) return
    const { message } = this.#failure
    this.#failure = undefined
    this.append([`[The log ends here: ${message} At least ${this.#lost} lines are missing.]`])
  }

  #drainSoon(): void {
    if (this.#endDrain !== undefined || this.#used === 0) return
    const drain = () => {
      this.#endDrain = undefined
      this.drain()
    }
    const wait = GROUP_MS - (performance.now() - this.#drainedAt)
    if (wait <= 0) {
      const immediate = setImmediate(drain)
      this.#endDrain = () => clearImmediate(immediate)
    } else {
      const timer = setTimeout(drain, wait)
      this.#endDrain = () => clearTimeout(timer)
    }
  }

  #syncNow(): void {
    this.#syncTimer = undefined
    this.#sync().catch((error: unknown) => this.#fail(error))
  }

  /** Syncs everything that is written now. Who comes while a sync runs waits for the next one, together with others. */
  #sync(): Promise<void> {
    if (this.#running === undefined) return this.#startSync()
    this.#next ??= this.#running
      .catch(() => {})
      .then(() => {
        this.#next = undefined
        return this.#startSync()
      })
    return this.#next
  }

  #startSync(): Promise<void> {
    this.#running = this.#syncAll().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async #syncAll(): Promise<void> {
    const retired = this.#takeRetired()
    try {
      for (const descriptor of retired) await syncData(descriptor)
    } finally {
      for (const descriptor of retired) closeSync(descriptor)
    }
    if (this.#unsynced) {
      this.#unsynced = false
      await syncData(this.#descriptor)
    }
    if (this.#newNames) {
      this.#newNames = false
      await syncFolder(this.#log.folder)
      await syncFolder(dirname(this.#log.folder))
    }
  }

  #syncRetired(): void {
    for (const descriptor of this.#takeRetired()) {
      fdatasyncSync(descriptor)
      closeSync(descriptor)
    }
  }

  #takeRetired(): readonly number[] {
    const descriptors = [...this.#retired.values()]
    this.#retired.clear()
    return descriptors
  }

  /** Frees everything. */
  async #end(): Promise<void> {
    clearTimeout(this.#syncTimer)
    this.#endDrain?.()
    this.#state = 'closed'
    await this.#running?.catch(() => {})
    for (const descriptor of [...this.#takeRetired(), this.#descriptor]) closeSync(descriptor)
    this.#log.writer = undefined
    this.#released()
  }
}

function tailBytes(segments: readonly Segment[]): number {
  return segments.slice(1).reduce((sum, { bytes }) => sum + bytes, 0)
}

function writeFully(descriptor: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; ) {
    done += writeSync(descriptor, bytes, done, bytes.length - done, position + done)
  }
}
