import { constants } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type JournalRecord, journalFile, type SessionView } from '@botcli/protocol'
import type { JournalPosition } from '../agent-logs/agent-log-store.ts'
import type { Clock } from '../log.ts'
import { listJournal } from './journal-listing.ts'
import { recordOf } from './journal-record.ts'
import type { Obstacle } from './obstacle.ts'
import { readOutput } from './output-reader.ts'
import { openPlainFile } from './plain-file.ts'
import { wholeLines } from './whole-lines.ts'

/** What was read in one go. */
export interface JournalBatch {
  readonly records: readonly JournalRecord[]
  /** Lines that its process has printed beside its journal. */
  readonly output: readonly string[]
  /** How much of it there was. */
  readonly bytes: number
  /** Where to go on. */
  readonly position: JournalPosition
  /** Whether there may be more already. */
  readonly hasMore: boolean
  /** What was in the way, and is left out. */
  readonly obstacles: readonly Obstacle[]
}

/** What was read of a file of a journal. */
interface FilePart {
  readonly records: readonly JournalRecord[]
  /** Where to go on. */
  readonly offset: number
  readonly isEnd: boolean
  readonly obstacle?: Obstacle | undefined
}

/** The beginning of every journal. */
export const JOURNAL_START: JournalPosition = { file: 1, offset: 0, output: 0 }

const BATCH_BYTES = 1024 * 1024
const MAX_LINE = 64 * 1024
/** A runner begins a new file long before this. */
const MAX_FILE_BYTES = 64 * 1024 * 1024
/** Of a journal that is too long, what its sessions have come to is looked for at the ends of so many files. */
const LAST_FILES = 2
const LAST_BYTES = 256 * 1024
/** More files than a runner leaves are not removed in one go. */
const REMOVED_AT_ONCE = 16

/**
 * Reads the journal of an instance and its other output, in pieces. It has no memory: where it begins is always told. The bot can write
 * there, too: whatever it puts there is left out if it cannot be read, and costs neither time nor memory without a limit.
 */
export class JournalReader {
  readonly #journalFolder: string
  readonly #outputPath: string
  readonly #clock: Clock

  constructor(options: {
    readonly journalFolder: string
    readonly outputPath: string
    readonly clock?: Clock
  }) {
    this.#journalFolder = options.journalFolder
    this.#outputPath = options.outputPath
    this.#clock = options.clock ?? Date.now
  }

  /**
   * Reads on from a position. Whatever comes before it must be safe elsewhere: its files are removed. With `isOver`, nobody writes any more,
   * and half a line at the end is all that there will be of it.
   */
  async read(from: JournalPosition, options: { readonly isOver?: boolean } = {}): Promise<JournalBatch> {
    const isOver = options.isOver ?? false
    const { numbers, obstacles } = await listJournal(this.#journalFolder)
    // The instance removes its oldest files if nobody reads them.
    const file = numbers.find((number) => number >= from.file) ?? from.file
    await this.#remove(numbers.filter((number) => number < file))
    const offset = file === from.file ? from.offset : 0
    const next = numbers.find((number) => number > file)
    const part: FilePart = numbers.includes(file)
      ? await this.#readFile(file, offset, isOver || next !== undefined)
      : { records: [], offset, isEnd: true }
    const output = await readOutput(this.#outputPath, from.output, isOver)
    const isRead = part.isEnd && next !== undefined
    return {
      records: part.records,
      output: output.lines,
      // What is left out of an output is not read.
      bytes: part.offset - offset + Math.min(BATCH_BYTES, Math.max(0, output.position - from.output)),
      position: {
        file: isRead ? next : file,
        offset: isRead ? 0 : part.offset,
        output: output.position,
      },
      hasMore: isRead || !part.isEnd || output.hasMore,
      obstacles: [...obstacles, ...listOf(part.obstacle), ...listOf(output.obstacle)],
    }
  }

  /** What sessions have come to, by the ends of the newest files alone: for a journal that is too long to be read to its end. */
  async lastSessions(): Promise<readonly SessionView[]> {
    const { numbers } = await listJournal(this.#journalFolder)
    const sessions = new Map<string, SessionView>()
    for (const number of numbers.slice(-LAST_FILES)) {
      for (const line of await this.#lastLines(number)) {
        const record = line.includes('"session"') ? recordOf(line, this.#clock) : undefined
        if (record?.type === 'session') sessions.set(record.session.sessionId, record.session)
      }
    }
    return [...sessions.values()]
  }

  async #lastLines(number: number): Promise<readonly string[]> {
    const handle = await openPlainFile(join(this.#journalFolder, journalFile(number)), constants.O_RDONLY)
    if (typeof handle === 'string') return []
    try {
      const { size } = await handle.stat()
      const begin = Math.max(0, size - LAST_BYTES)
      const { bytesRead, buffer } = await handle.read(
        Buffer.allocUnsafe(size - begin),
        0,
        size - begin,
        begin,
      )
      const lines = buffer.toString('utf8', 0, bytesRead).split('\n')
      // The first may be the end of a longer one.
      return begin === 0 ? lines : lines.slice(1)
    } finally {
      await handle.close()
    }
  }

  /** Removes files that were read. One that cannot be removed goes with the folder of the instance. */
  async #remove(numbers: readonly number[]): Promise<void> {
    for (const number of numbers.slice(0, REMOVED_AT_ONCE))
      await unlink(join(this.#journalFolder, journalFile(number))).catch(() => undefined)
  }

  /** Reads whole lines of a file. If nothing will be added to it, also what is left at its end. */
  async #readFile(number: number, offset: number, isFinal: boolean): Promise<FilePart> {
    const path = join(this.#journalFolder, journalFile(number))
    const handle = await openPlainFile(path, constants.O_RDONLY)
    if (typeof handle === 'string') {
      // The instance may have removed it meanwhile.
      const obstacle = handle === 'gone' ? undefined : (`journal-${handle}` as const)
      return { records: [], offset, isEnd: true, obstacle }
    }
    try {
      const { size } = await handle.stat()
      // Most reads are of a few lines, and a large buffer for each of them would cost more than all the rest.
      const left = Math.max(0, Math.min(size, MAX_FILE_BYTES) - offset)
      const wanted = Math.min(BATCH_BYTES, left)
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, offset)
      const bytes = buffer.subarray(0, bytesRead)
      const lines = wholeLines(bytes)
      const isEnd = bytesRead < BATCH_BYTES && !lines.hasMore
      // A line that is longer than a batch is taken in parts.
      const isAll = !lines.hasMore && (isEnd ? isFinal : lines.length === 0)
      const taken = isAll ? bytesRead : lines.length
      return {
        records: this.#records(bytes.subarray(0, taken)),
        offset: offset + taken,
        isEnd,
        obstacle: size > MAX_FILE_BYTES ? 'journal-long' : undefined,
      }
    } finally {
      await handle.close()
    }
  }

  #records(bytes: Buffer): readonly JournalRecord[] {
    const lines = bytes.toString('utf8').split('\n')
    return lines.flatMap((line) => {
      if (line === '') return []
      const record = recordOf(line, this.#clock)
      const { type } = record
      if (type !== 'log' || record.line.msg.length <= MAX_LINE) return [record]
      return [{ type, line: { ...record.line, msg: `${record.line.msg.slice(0, MAX_LINE)} [cut]` } }]
    })
  }
}

function listOf<T>(one: T | undefined): readonly T[] {
  return one === undefined ? [] : [one]
}
