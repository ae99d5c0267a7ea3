import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JournalRecord, SessionView } from '@botcli/protocol'
import { RunnerError } from '../errors.ts'
import type { LogStream } from '../log/logger.ts'
import { JournalFiles, type JournalLimits } from './journal-files.ts'
import { isOwnFolder } from './own-folder.ts'

const MIB = 1024 * 1024
const LIMITS: JournalLimits = { fileBytes: 8 * MIB, allBytes: 64 * MIB }

/** How often it is tried again to write what could not be written. */
const RETRY_MS = 1000
/** Sessions that wait for room on the disk; of those beyond, the cloud has to ask. */
const MAX_HELD = 200

/**
 * What an instance logs and what becomes of its sessions, in the order in which it happens. Each record is with the system when the call
 * returns, so that it outlives this process. A line that cannot be written is counted; how a session is now is held until it can be, since
 * an instance that has nothing else to say would otherwise never tell that it is over.
 */
export class Journal {
  /** For a logger that spells JSON. */
  readonly stream: LogStream = { write: (text) => this.#append(`{"type":"log","line":${text.trimEnd()}}\n`) }
  readonly #files: JournalFiles
  readonly #readers = new Set<() => void>()
  /** The records of sessions that could not be written down, by their ids: how each of them is now. */
  readonly #held = new Map<string, string>()
  #lost = 0
  #retry: NodeJS.Timeout | undefined

  private constructor(files: JournalFiles) {
    this.#files = files
  }

  /** Opens a journal in a folder, which is made if it is missing from the one above. Throws a {@link RunnerError} if there cannot be one. */
  static open(folder: string, limits: JournalLimits = LIMITS): Journal {
    try {
      const isOwn = isOwnFolder(existsSync(folder) ? folder : dirname(folder))
      const made = mkdirSync(folder, { recursive: true, mode: 0o700 })
      // The reader removes what it has read.
      if (made !== undefined && !isOwn) chmodSync(folder, 0o777)
      return new Journal(new JournalFiles(folder, isOwn ? 0o600 : 0o644, limits))
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new RunnerError('start_failed', `There can be no journal in ${folder}: ${why}.`, undefined, {
        cause,
      })
    }
  }

  /** Writes down how a session is now. */
  session(session: SessionView): void {
    const line = spell({ type: 'session', session })
    // What it was before does not count any more.
    this.#held.delete(session.sessionId)
    if (!this.#write(line)) this.#hold(session.sessionId, line)
    this.#tell()
  }

  /** Calls this after every record. Gives what ends that. */
  onGrown(listener: () => void): () => void {
    this.#readers.add(listener)
    return () => this.#readers.delete(listener)
  }

  close(): void {
    clearTimeout(this.#retry)
    if (this.#isBehind) this.#write()
    this.#files.close()
  }

  #append(line: string): void {
    if (!this.#write(line)) this.#lost += 1
    this.#tell()
  }

  /** Writes what is due, and then these: all of it or nothing. */
  #write(...lines: readonly string[]): boolean {
    const records = [...this.#held.values(), ...lines]
    const text = records.join('')
    this.#lost += this.#files.makeRoom(Buffer.byteLength(text))
    const lost = this.#lost
    const word = lost === 0 ? '' : spell({ type: 'lost', records: lost })
    // Whoever loses the word of lost records has lost these records, too.
    if (!this.#files.write(word + text, lost + records.length)) return false
    this.#lost -= lost
    this.#held.clear()
    return true
  }

  #hold(sessionId: string, line: string): void {
    this.#held.set(sessionId, line)
    const [oldest] = this.#held.keys()
    if (this.#held.size <= MAX_HELD || oldest === undefined) return
    this.#held.delete(oldest)
    this.#lost += 1
  }

  #tell(): void {
    for (const listener of this.#readers) listener()
    if (this.#isBehind) this.#retry ??= setTimeout(() => this.#tryAgain(), RETRY_MS).unref()
  }

  #tryAgain(): void {
    this.#retry = undefined
    if (this.#isBehind) this.#write()
    this.#tell()
  }

  get #isBehind(): boolean {
    return this.#lost > 0 || this.#held.size > 0
  }
}

function spell(record: JournalRecord): string {
  return `${JSON.stringify(record)}\n`
}
