import { number } from '../store/sqlite/columns.ts'
import type { Row, SqliteDatabase } from '../store/sqlite/database.ts'
import type { JournalPosition, NewLogEntry } from './agent-log-store.ts'
import { ENTRY_COLUMNS, ROW_BYTES, rowOf, SPAN_ENTRIES } from './entry-row.ts'

const INSERT = `INSERT INTO entries (${ENTRY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`
const WIDEN = `
  INSERT INTO spans (log, span, first_time, last_time) VALUES (?, ?, ?, ?)
  ON CONFLICT (log, span) DO UPDATE SET first_time = min(first_time, excluded.first_time), last_time = max(last_time, excluded.last_time)`
const NOTE = `
  INSERT INTO positions (instance_id, log, file, byte, output) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT (instance_id) DO UPDATE SET log = excluded.log, file = excluded.file, byte = excluded.byte, output = excluded.output`
const OLDEST = 'SELECT id, time, octet_length(text) AS bytes FROM entries WHERE log = ? ORDER BY id LIMIT ?'

/** How long a log may become. */
export interface LogLimits {
  readonly maxBytes: number
  readonly maxAgeMs: number
}

/** Where a log lies, and which numbers its entries have: all from `first` to `last`. */
export interface LogExtent {
  readonly key: number
  readonly first: number
  readonly last: number
  readonly bytes: number
}

/** What is written to the tables of the logs. All of it is synchronous, and none of it is a transaction by itself. */
export class LogTables {
  readonly #database: SqliteDatabase
  readonly #limits: LogLimits

  constructor(database: SqliteDatabase, limits: LogLimits) {
    this.#database = database
    this.#limits = limits
  }

  /** The log of an agent, if anything was ever written to it. */
  find(agentId: string): LogExtent | undefined {
    const row = this.#database.get('SELECT key, first, last, bytes FROM logs WHERE agent_id = ?', agentId)
    return row && extentOf(row)
  }

  /** The logs of all agents. */
  all(): readonly string[] {
    return this.#database
      .all('SELECT agent_id FROM logs WHERE agent_id IS NOT NULL')
      .map((row) => String(row.agent_id))
  }

  append(agentId: string, entries: readonly NewLogEntry[]): void {
    const { key, first, last, bytes } = this.find(agentId) ?? this.#create(agentId)
    const times = new Map<number, { first: number; last: number }>()
    let id = last
    let sum = bytes
    for (const entry of entries) {
      id += 1
      const row = rowOf(key, id, entry)
      this.#database.run(INSERT, ...row.values)
      sum += row.bytes
      const span = spanOf(id)
      const known = times.get(span) ?? { first: row.time, last: row.time }
      times.set(span, { first: Math.min(known.first, row.time), last: Math.max(known.last, row.time) })
    }
    for (const [span, time] of times) this.#database.run(WIDEN, key, span, time.first, time.last)
    this.#set({ key, first, last: id, bytes: sum })
  }

  /** Removes the oldest entries while they are too many or too old, at most so many; says whether there may be more. */
  trim(agentId: string, now: number, most: number): boolean {
    const log = this.find(agentId)
    if (log === undefined || log.first > log.last) return false
    const { maxBytes, maxAgeMs } = this.#limits
    const [oldest] = this.#database.all(OLDEST, log.key, 1)
    if (log.bytes <= maxBytes && oldest && number(oldest, 'time') >= now - maxAgeMs) return false
    let { first, bytes } = log
    for (const row of this.#database.all(OLDEST, log.key, most)) {
      if (bytes <= maxBytes && number(row, 'time') >= now - maxAgeMs) break
      bytes -= ROW_BYTES + number(row, 'bytes')
      first = number(row, 'id') + 1
    }
    this.#database.run('DELETE FROM entries WHERE log = ? AND id < ?', log.key, first)
    this.#database.run('DELETE FROM spans WHERE log = ? AND span < ?', log.key, spanOf(first))
    this.#set({ ...log, first, bytes })
    return first - log.first === most
  }

  /** Parts an agent from its entries, which are on their way out. */
  detach(agentId: string): void {
    const log = this.find(agentId)
    if (log === undefined) return
    this.#database.run('UPDATE logs SET agent_id = NULL WHERE key = ?', log.key)
    this.#database.run('DELETE FROM positions WHERE log = ?', log.key)
  }

  /** Removes entries of removed logs, at most so many; says whether there may be more. */
  sweep(most: number): boolean {
    const gone = this.#database.get('SELECT key, first, last, bytes FROM logs WHERE agent_id IS NULL LIMIT 1')
    if (gone === undefined) return false
    const { key, first, last } = extentOf(gone)
    const next = first + most
    this.#database.run('DELETE FROM entries WHERE log = ? AND id < ?', key, next)
    if (next <= last) {
      this.#database.run('UPDATE logs SET first = ? WHERE key = ?', next, key)
    } else {
      this.#database.run('DELETE FROM spans WHERE log = ?', key)
      this.#database.run('DELETE FROM logs WHERE key = ?', key)
    }
    return true
  }

  note(instanceId: string, agentId: string, { file, offset, output }: JournalPosition): void {
    const { key } = this.find(agentId) ?? this.#create(agentId)
    this.#database.run(NOTE, instanceId, key, file, offset, output)
  }

  position(instanceId: string): JournalPosition | undefined {
    const row = this.#database.get(
      'SELECT file, byte, output FROM positions WHERE instance_id = ?',
      instanceId,
    )
    return row && { file: number(row, 'file'), offset: number(row, 'byte'), output: number(row, 'output') }
  }

  forget(instanceId: string): void {
    this.#database.run('DELETE FROM positions WHERE instance_id = ?', instanceId)
  }

  #create(agentId: string): LogExtent {
    this.#database.run('INSERT INTO logs (agent_id, first, last, bytes) VALUES (?, 1, 0, 0)', agentId)
    const made = this.find(agentId)
    if (made === undefined) throw new Error(`the log of ${agentId} was not made`)
    return made
  }

  #set({ key, first, last, bytes }: LogExtent): void {
    this.#database.run(
      'UPDATE logs SET first = ?, last = ?, bytes = ? WHERE key = ?',
      first,
      last,
      bytes,
      key,
    )
  }
}

/** The span that an entry is in. */
export function spanOf(id: number): number {
  return Math.floor(id / SPAN_ENTRIES)
}

function extentOf(row: Row): LogExtent {
  return {
    key: number(row, 'key'),
    first: number(row, 'first'),
    last: number(row, 'last'),
    bytes: number(row, 'bytes'),
  }
}
