import { number, text } from '../store/sqlite/columns.ts'
import type { Row, SqliteDatabase } from '../store/sqlite/database.ts'
import type { StoredLogEntry } from './agent-log-store.ts'
import type { Condition, EntryConditions } from './entry-conditions.ts'
import { ENTRY_COLUMNS, entryOf } from './entry-row.ts'

/** How many entries one step looks at: about a millisecond's worth. */
const STEP_ENTRIES = 2000
/** A search in texts begins with this, and finds out how long they are. */
const FIRST_SEARCH = 32
const MIN_STEP = 16
/** A step that takes longer is followed by shorter ones; after one that takes less they may be longer. */
const STEP_MS = { most: 8, least: 2 }

/** Numbers of entries, both ends included. */
export interface IdRange {
  readonly from: number
  readonly to: number
}

/** Goes through a range of entries in steps, each of which is short, whether anything is found or not. */
export class EntryScan {
  readonly #database: SqliteDatabase
  readonly #conditions: EntryConditions
  readonly #order: 'asc' | 'desc'
  #range: IdRange
  /** How many entries the next step looks at. */
  #size: number

  constructor(database: SqliteDatabase, conditions: EntryConditions, range: IdRange, order: 'asc' | 'desc') {
    this.#database = database
    this.#conditions = conditions
    this.#range = range
    this.#order = order
    this.#size = conditions.isSearch ? FIRST_SEARCH : STEP_ENTRIES
  }

  /** Whether it is at its end. */
  get isDone(): boolean {
    return this.#range.from > this.#range.to
  }

  /** Of a scan from the oldest on: the last entry that it has looked at. */
  get at(): number {
    return this.#range.from - 1
  }

  /** One step: the entries that it found, at most so many. */
  take(limit: number): readonly StoredLogEntry[] {
    return this.isDone ? [] : this.#timed(() => this.#take(limit))
  }

  /** One step: how many entries it found. */
  count(): number {
    return this.skip(Number.POSITIVE_INFINITY)
  }

  /** One step, which passes at most so many entries; gives how many they were. */
  skip(most: number): number {
    return this.isDone ? 0 : this.#timed(() => this.#skip(most))
  }

  #timed<T>(step: () => T): T {
    const begun = performance.now()
    const result = step()
    const took = performance.now() - begun
    if (took > STEP_MS.most) this.#size = Math.max(MIN_STEP, Math.floor(this.#size / 4))
    else if (took < STEP_MS.least) this.#size = Math.min(STEP_ENTRIES, this.#size * 2)
    return result
  }

  #take(limit: number): readonly StoredLogEntry[] {
    const { rest, isWanted } = this.#conditions
    const end = rest === undefined ? undefined : this.#stepEnd()
    const most = isWanted === undefined ? limit : this.#size
    const rows = this.#rows(ENTRY_COLUMNS, end, most)
    const wanted = isWanted === undefined ? rows : rows.filter((row) => isWanted(text(row, 'text')))
    const taken = wanted.slice(0, limit)
    const last = taken.at(-1)
    if (taken.length === limit && last !== undefined) this.#passed(number(last, 'id'))
    else this.#passed(end)
    return taken.map(entryOf)
  }

  #skip(most: number): number {
    const end = this.#stepEnd()
    const found = this.#found(end)
    if (found > most) return this.#take(most).length
    this.#passed(end)
    return found
  }

  #found(end: number | undefined): number {
    const { rest, isWanted } = this.#conditions
    if (isWanted !== undefined) {
      const rows = this.#rows('id, text', end, this.#size)
      return rows.filter((row) => isWanted(text(row, 'text'))).length
    }
    return rest === undefined && end !== undefined ? this.#size : this.#total(end)
  }

  /** The last entry that a step looks at; nothing if it gets to the end. */
  #stepEnd(): number | undefined {
    const { source, sought } = this.#conditions
    const { from, to } = this.#range
    const sql = `SELECT id FROM ${source} WHERE ${sought.sql} AND id BETWEEN ? AND ? ORDER BY id ${this.#order} LIMIT 1 OFFSET ?`
    const row = this.#database.get(sql, ...sought.values, from, to, this.#size - 1)
    return row && number(row, 'id')
  }

  #rows(columns: string, end: number | undefined, limit: number): readonly Row[] {
    const { sql, values } = this.#part(end)
    return this.#database.all(`SELECT ${columns} ${sql} ORDER BY id ${this.#order} LIMIT ?`, ...values, limit)
  }

  #total(end: number | undefined): number {
    const { sql, values } = this.#part(end)
    return number(this.#database.get(`SELECT count(*) AS found ${sql}`, ...values) ?? {}, 'found')
  }

  /** What is left, up to an entry. */
  #part(end: number | undefined): Condition {
    const { source, sought, rest } = this.#conditions
    const { from, to } = this.#range
    const ids = this.#order === 'asc' ? [from, end ?? to] : [end ?? from, to]
    return {
      sql: `FROM ${source} WHERE ${sought.sql} AND id BETWEEN ? AND ?${rest === undefined ? '' : ` AND ${rest.sql}`}`,
      values: [...sought.values, ...ids, ...(rest?.values ?? [])],
    }
  }

  #passed(id: number | undefined): void {
    const { from, to } = this.#range
    if (id === undefined) this.#range = { from: to + 1, to }
    else this.#range = this.#order === 'asc' ? { from: id + 1, to } : { from, to: id - 1 }
  }
}
