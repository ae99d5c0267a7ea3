import { number } from '../store/sqlite/columns.ts'
import type { SqliteDatabase } from '../store/sqlite/database.ts'
import type { AgentLogFilter, AgentLogPage, AgentLogWindow, StoredLogEntry } from './agent-log-store.ts'
import { conditionsOf } from './entry-conditions.ts'
import { SPAN_ENTRIES } from './entry-row.ts'
import { EntryScan, type IdRange } from './entry-scan.ts'
import type { LogExtent } from './log-tables.ts'
import type { Turns } from './turns.ts'

/** More are not counted. */
const MAX_COUNTED = 10_000
/** Nor is it counted for longer than this. */
const COUNT_MS = 2000
/** Entries that are read at once. */
const STEP_LIMIT = 500
/** Entries for a follower at once. */
const BATCH_ENTRIES = 256
/** They are not longer than this, except by one entry. */
const BATCH_CHARACTERS = 1024 * 1024
const NOTHING: IdRange = { from: 1, to: 0 }
const TIMES = `
  SELECT min(span) AS first, max(span) AS last FROM spans WHERE log = ? AND last_time >= ? AND first_time <= ?`

/** Reads the entries of logs. */
export class LogReader {
  readonly #database: SqliteDatabase
  readonly #turns: Turns

  constructor(database: SqliteDatabase, turns: Turns) {
    this.#database = database
    this.#turns = turns
  }

  /** Looks at some entries after a number: those that are wanted, and the last that it has looked at. Nothing if there is none. */
  batch(
    log: LogExtent,
    filter: AgentLogFilter,
    after: number,
  ): { readonly entries: readonly StoredLogEntry[]; readonly at: number } | undefined {
    if (log.last <= after) return undefined
    const scan = this.#scan(log, filter, 'asc', { from: after + 1, to: log.last })
    const found = scan.take(BATCH_ENTRIES)
    const entries = short(found)
    const at = scan.isDone ? log.last : scan.at
    return { entries, at: entries.length < found.length ? (entries.at(-1)?.id ?? at) : at }
  }

  async page(log: LogExtent, filter: AgentLogFilter, window: AgentLogWindow): Promise<AgentLogPage> {
    const { order, after, limit, offset = 0, counted = true } = window
    const { wanted, passed } = split(log, order, after)
    const scan = this.#scan(log, filter, order, wanted)
    const skipped = await skip(scan, offset, this.#turns)
    const entries: StoredLogEntry[] = []
    // One more than is wanted tells whether there are more.
    while (!scan.isDone && entries.length <= limit) {
      for (const entry of scan.take(Math.min(limit + 1 - entries.length, STEP_LIMIT))) entries.push(entry)
      await this.#turns.next()
    }
    const found = skipped + entries.length
    const hasMore = entries.length > limit
    if (hasMore) entries.pop()
    if (!counted) return { entries, hasMore, total: { value: found, relation: 'gte' } }
    const rest = [scan, this.#scan(log, filter, order, passed)]
    return { entries, hasMore, total: await count(found, rest, this.#turns) }
  }

  #scan(log: LogExtent, filter: AgentLogFilter, order: 'asc' | 'desc', range: IdRange): EntryScan {
    const times = this.#rangeOfTimes(log, filter)
    const from = Math.max(range.from, log.first, times.from)
    const to = Math.min(range.to, log.last, times.to)
    return new EntryScan(this.#database, conditionsOf(log.key, filter), { from, to }, order)
  }

  /** Outside of these numbers no entry is of the wanted time. */
  #rangeOfTimes(log: LogExtent, { startTime, endTime }: AgentLogFilter): IdRange {
    if (startTime === undefined && endTime === undefined) return { from: log.first, to: log.last }
    const from = startTime ?? Number.MIN_SAFE_INTEGER
    const row = this.#database.get(TIMES, log.key, from, endTime ?? Number.MAX_SAFE_INTEGER)
    if (row === undefined || row.first === null) return NOTHING
    return { from: number(row, 'first') * SPAN_ENTRIES, to: (number(row, 'last') + 1) * SPAN_ENTRIES - 1 }
  }
}

/** The first of some entries, as many as fit into a batch. */
function short(entries: readonly StoredLogEntry[]): readonly StoredLogEntry[] {
  let characters = 0
  const end = entries.findIndex(({ text }) => {
    characters += text.length
    return characters >= BATCH_CHARACTERS
  })
  return end < 0 ? entries : entries.slice(0, end + 1)
}

/** What comes after an entry in an order, and the others. */
function split(
  { first, last }: LogExtent,
  order: 'asc' | 'desc',
  after: number | undefined,
): { readonly wanted: IdRange; readonly passed: IdRange } {
  if (after === undefined) return { wanted: { from: first, to: last }, passed: NOTHING }
  if (order === 'asc') return { wanted: { from: after + 1, to: last }, passed: { from: first, to: after } }
  return { wanted: { from: first, to: after - 1 }, passed: { from: after, to: last } }
}

/** Passes so many entries, and gives how many there were. */
async function skip(scan: EntryScan, offset: number, turns: Turns): Promise<number> {
  let skipped = 0
  while (!scan.isDone && skipped < offset) {
    skipped += scan.skip(offset - skipped)
    await turns.next()
  }
  return skipped
}

async function count(
  found: number,
  scans: readonly EntryScan[],
  turns: Turns,
): Promise<AgentLogPage['total']> {
  const begun = performance.now()
  let value = found
  for (const scan of scans) {
    while (!scan.isDone && value <= MAX_COUNTED) {
      if (performance.now() - begun > COUNT_MS) return { value, relation: 'gte' }
      value += scan.count()
      await turns.next()
    }
  }
  return value > MAX_COUNTED ? { value: MAX_COUNTED, relation: 'gte' } : { value, relation: 'eq' }
}
