import {
  closeSync,
  existsSync,
  fchmodSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { journalFile } from '@botcli/protocol'

const NAME = /^(\d{8})\.jsonl$/
const NEWLINE = 10

/** How large a journal may become. */
export interface JournalLimits {
  readonly fileBytes: number
  readonly allBytes: number
}

interface JournalFile {
  readonly number: number
  bytes: number
  /** How many records are lost with it. */
  records: number
}

/** The files of a journal, of which only the newest is written to. Nothing here throws when the disk does not do its part. */
export class JournalFiles {
  readonly #folder: string
  readonly #mode: number
  readonly #limits: JournalLimits
  #older: readonly JournalFile[]
  #current: JournalFile
  #descriptor: number | undefined

  constructor(folder: string, mode: number, limits: JournalLimits) {
    this.#folder = folder
    this.#mode = mode
    this.#limits = limits
    this.#older = existing(folder)
    // What an earlier process has left may end in half a line, so nothing is added to it.
    this.#current = fresh((this.#older.at(-1)?.number ?? 0) + 1)
  }

  /** Begins a new file if so many bytes do not fit any more. Gives how many records were removed that nobody had read. */
  makeRoom(bytes: number): number {
    const { fileBytes } = this.#limits
    if (this.#current.bytes === 0 || this.#current.bytes + bytes <= fileBytes) return 0
    this.#rotate()
    return this.#removeOldest()
  }

  /** Adds lines that hold so many records, all of them or none. Says whether that was possible. */
  write(text: string, records: number): boolean {
    const bytes = Buffer.from(text)
    try {
      this.#descriptor ??= this.#open()
      writeAll(this.#descriptor, bytes)
    } catch {
      this.#takeBack()
      return false
    }
    this.#current.bytes += bytes.length
    this.#current.records += records
    return true
  }

  close(): void {
    if (this.#descriptor === undefined) return
    const descriptor = this.#descriptor
    this.#descriptor = undefined
    try {
      closeSync(descriptor)
    } catch {
      // What could be written was written before.
    }
  }

  #open(): number {
    const descriptor = openSync(join(this.#folder, journalFile(this.#current.number)), 'a', this.#mode)
    // What the process was told to keep from others must not keep out the reader.
    fchmodSync(descriptor, this.#mode)
    return descriptor
  }

  /** Half a line would spoil the one after it. */
  #takeBack(): void {
    if (this.#descriptor === undefined) return
    try {
      ftruncateSync(this.#descriptor, this.#current.bytes)
    } catch {
      this.#rotate()
    }
  }

  #rotate(): void {
    this.close()
    this.#older = [...this.#older, this.#current]
    this.#current = fresh(this.#current.number + 1)
  }

  #removeOldest(): number {
    const unread = this.#older.filter(({ number }) => existsSync(join(this.#folder, journalFile(number))))
    let all = unread.reduce((sum, { bytes }) => sum + bytes, this.#limits.fileBytes)
    let lost = 0
    while (all > this.#limits.allBytes) {
      const oldest = unread.shift()
      if (oldest === undefined) break
      all -= oldest.bytes
      if (this.#remove(oldest)) lost += oldest.records
    }
    this.#older = unread
    return lost
  }

  /** Whether it was still there. */
  #remove({ number }: JournalFile): boolean {
    try {
      unlinkSync(join(this.#folder, journalFile(number)))
      return true
    } catch {
      return false
    }
  }
}

function fresh(number: number): JournalFile {
  return { number, bytes: 0, records: 0 }
}

function existing(folder: string): readonly JournalFile[] {
  const numbers = readdirSync(folder).flatMap((name) => NAME.exec(name)?.[1] ?? [])
  return numbers
    .map(Number)
    .sort((a, b) => a - b)
    .map((number) => {
      const bytes = readFileSync(join(folder, journalFile(number)))
      return { number, bytes: bytes.length, records: bytes.filter((byte) => byte === NEWLINE).length }
    })
}

function writeAll(descriptor: number, bytes: Buffer): void {
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at)
}
