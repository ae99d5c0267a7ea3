import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JournalRecord, SessionView } from '@botcli/protocol'
import { RunnerError } from '../errors.ts'
import type { LogStream } from '../log/logger.ts'
import { JournalFiles, type JournalLimits } from './journal-files.ts'
import { isOwnFolder } from './own-folder.ts'

const MIB = 1024 * 1024
const LIMITS: JournalLimits = { fileBytes: 8 * MIB, allBytes: 64 * MIB }

/**
 * What an instance logs and what becomes of its sessions, in the order in which it happens. Each record is with the system when the call
 * returns, so that it outlives this process. A record that cannot be written is counted, and nothing else comes of it.
 */
export class Journal {
  /** For a logger that spells JSON. */
  readonly stream: LogStream = { write: (text) => this.#append(`{"type":"log","line":${text.trimEnd()}}\n`) }
  readonly #files: JournalFiles
  readonly #readers = new Set<() => void>()
  #lost = 0

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
    this.#append(spell({ type: 'session', session }))
  }

  /** Calls this after every record. Gives what ends that. */
  onGrown(listener: () => void): () => void {
    this.#readers.add(listener)
    return () => this.#readers.delete(listener)
  }

  close(): void {
    this.#files.close()
  }

  #append(line: string): void {
    this.#lost += this.#files.makeRoom(Buffer.byteLength(line))
    const lost = this.#lost
    const text = lost === 0 ? line : spell({ type: 'lost', records: lost }) + line
    // Whoever loses the word of lost records has lost these records, too.
    if (this.#files.write(text, lost + 1)) this.#lost -= lost
    else this.#lost += 1
    for (const listener of this.#readers) listener()
  }
}

function spell(record: JournalRecord): string {
  return `${JSON.stringify(record)}\n`
}
