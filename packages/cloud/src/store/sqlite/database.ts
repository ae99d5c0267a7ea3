import { closeSync, openSync } from 'node:fs'
import Libsql from 'libsql'
import { diskFull, isDiskFull } from '../../disk-full.ts'
import { CloudError } from '../../errors.ts'

/** What can be stored in a column. */
export type SqlValue = string | number | Uint8Array | null
/** A row, by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>

type Statement = ReturnType<Libsql.Database['prepare']>

/** One SQLite file with its statements. Everything in it is synchronous, so that a transaction is never interleaved. */
export class SqliteDatabase {
  readonly #database: Libsql.Database
  /** The texts of statements are few and fixed, so this does not grow. */
  readonly #statements = new Map<string, Statement>()
  #closed = false

  constructor(path: string) {
    // Made here, so that only its owner can read it; the files that SQLite puts beside it get the same mode.
    if (path !== ':memory:') closeSync(openSync(path, 'a', 0o600))
    this.#database = new Libsql(path)
    this.#database.exec('PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 5000')
    this.#database.exec('PRAGMA synchronous = FULL')
  }

  get(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    return this.#guard(() => this.#statement(sql).get([...values]) as Row | undefined)
  }

  all(sql: string, ...values: readonly SqlValue[]): readonly Row[] {
    return this.#guard(() => this.#statement(sql).all([...values]) as readonly Row[])
  }

  /** Gives how many rows were changed. */
  run(sql: string, ...values: readonly SqlValue[]): number {
    return this.#guard(() => this.#statement(sql).run([...values]).changes)
  }

  /** Runs statements that have no values, such as those that make tables. */
  execute(sql: string): void {
    this.#guard(() => this.#database.exec(sql))
  }

  /** All of it, or nothing. */
  transaction<T>(work: () => T): T {
    this.execute('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.execute('COMMIT')
      return result
    } catch (error) {
      // A full disk has rolled it back already.
      if (this.#database.inTransaction) this.execute('ROLLBACK')
      throw error
    }
  }

  /** For what may be lost in a power cut, though not in a crash: it does not wait for the disk. */
  casually<T>(work: () => T): T {
    this.execute('PRAGMA synchronous = NORMAL')
    try {
      return work()
    } finally {
      this.execute('PRAGMA synchronous = FULL')
    }
  }

  close(): void {
    if (this.#closed) return
    this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    this.#closed = true
    this.#statements.clear()
    this.#database.close()
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known) return known
    const made = this.#database.prepare(sql)
    this.#statements.set(sql, made)
    return made
  }

  #guard<T>(work: () => T): T {
    if (this.#closed) throw new CloudError('UNAVAILABLE', 'The cloud is stopping. Try again when it is back.')
    try {
      return work()
    } catch (error) {
      throw isDiskFull(error) ? diskFull(error) : error
    }
  }
}
