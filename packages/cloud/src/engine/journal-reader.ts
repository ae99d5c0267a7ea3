import { constants } from 'node:fs'
import { type FileHandle, open, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type JournalRecord, journalFile } from '@botcli/protocol'
import type { JournalPosition } from '../agent-logs/agent-log-store.ts'
import { codeOf } from '../errors.ts'
import type { Clock } from '../log.ts'
import { recordOf } from './journal-record.ts'
import { readOutput } from './output-reader.ts'

/** What was read in one go. */
export interface JournalBatch {
  readonly records: readonly JournalRecord[]
  /** Lines that its process has printed beside its journal. */
  readonly output: readonly string[]
  /** Where to go on. */
  readonly position: JournalPosition
  /** Whether there may be more already. */
  readonly hasMore: boolean
}

/** The beginning of every journal. */
export const JOURNAL_START: JournalPosition = { file: 1, offset: 0, output: 0 }

const BATCH_BYTES = 1024 * 1024
const MAX_LINE = 64 * 1024
const NEWLINE = 10
// The bot can write there: a link must not lead us elsewhere, and something that nobody writes to must not stop us.
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Reads the journal of an instance and its other output, in pieces. It has no memory: where it begins is always told. */
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
    const numbers = await this.#numbers()
    // The instance removes its oldest files if nobody reads them.
    const file = numbers.find((number) => number >= from.file) ?? from.file
    for (const number of numbers)
      if (number < file) await rm(join(this.#journalFolder, journalFile(number)), { force: true })
    const offset = file === from.file ? from.offset : 0
    const next = numbers.find((number) => number > file)
    const part = await this.#readFile(file, offset, isOver || next !== undefined)
    const output = await readOutput(this.#outputPath, from.output, isOver)
    const isRead = part.isEnd && next !== undefined
    return {
      records: part.records,
      output: output.lines,
      position: {
        file: isRead ? next : file,
        offset: isRead ? 0 : part.offset,
        output: output.position,
      },
      hasMore: isRead || !part.isEnd || output.hasMore,
    }
  }

  async #numbers(): Promise<readonly number[]> {
    const names = await readdir(this.#journalFolder).catch((error: unknown) => {
      if (codeOf(error) === 'ENOENT') return []
      throw error
    })
    const found = names.flatMap((name) => (/^\d{8}\.jsonl$/.test(name) ? [Number(name.slice(0, 8))] : []))
    return found.sort((a, b) => a - b)
  }

  /** Reads whole lines of a file. If nothing will be added to it, also what is left at its end. */
  async #readFile(
    number: number,
    offset: number,
    isFinal: boolean,
  ): Promise<{
    readonly records: readonly JournalRecord[]
    readonly offset: number
    readonly isEnd: boolean
  }> {
    const handle = await openFile(join(this.#journalFolder, journalFile(number)))
    if (handle === undefined) return { records: [], offset, isEnd: true }
    try {
      // Most reads are of a few lines, and a large buffer for each of them would cost more than all the rest.
      const { size } = await handle.stat()
      const wanted = Math.min(BATCH_BYTES, Math.max(0, size - offset))
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, offset)
      const isEnd = bytesRead < BATCH_BYTES
      const bytes = buffer.subarray(0, bytesRead)
      const last = bytes.lastIndexOf(NEWLINE)
      // A line that is longer than a batch is taken in parts.
      const taken = (isEnd && isFinal) || (!isEnd && last === -1) ? bytesRead : last + 1
      return { records: this.#records(bytes.subarray(0, taken)), offset: offset + taken, isEnd }
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

async function openFile(path: string): Promise<FileHandle | undefined> {
  const handle = await open(path, FLAGS).catch((error: unknown) => {
    // It was removed meanwhile, or is a link.
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP') return undefined
    throw error
  })
  if (handle === undefined || (await handle.stat()).isFile()) return handle
  await handle.close()
  return undefined
}
