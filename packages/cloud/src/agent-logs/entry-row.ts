import { type AgentLogLevel, LOG_SOURCES, type LogSource } from '@botcli/protocol/cloud'
import { nullable, number, text } from '../store/sqlite/columns.ts'
import type { Row, SqlValue } from '../store/sqlite/database.ts'
import type { NewLogEntry, StoredLogEntry } from './agent-log-store.ts'

/** The longest text of an entry, in bytes of UTF-8. */
export const MAX_ENTRY_BYTES = 64 * 1024
/** What an entry takes beside its text, in its row and in the indexes; roughly, since only the limit of a log depends on it. */
export const ROW_BYTES = 256
/** How many entries share a row that knows their times. */
export const SPAN_ENTRIES = 256

/** How levels are stored, so that graver ones are larger. */
export const LEVEL_RANKS: Readonly<Record<AgentLogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3 }
const LEVELS: readonly AgentLogLevel[] = ['debug', 'info', 'warn', 'error']

/** The columns of an entry, in the order of `valuesOf`. */
export const ENTRY_COLUMNS = 'log, id, time, source, level, text, deployment_id, instance_id, session_id'

/** An entry as it is stored, and how much of the limit of its log it takes. */
export interface EntryRow {
  readonly values: readonly SqlValue[]
  readonly bytes: number
  readonly time: number
}

/** What is stored of an entry. */
export function rowOf(log: number, id: number, entry: NewLogEntry): EntryRow {
  const time = Math.floor(entry.time)
  const stored = fitting(entry.text)
  const level = entry.level === null ? null : LEVEL_RANKS[entry.level]
  const { source, deploymentId, instanceId, sessionId } = entry
  const values = [log, id, time, source, level, stored, deploymentId, instanceId, sessionId]
  return { values, bytes: ROW_BYTES + Buffer.byteLength(stored), time }
}

/** The entry of a row. */
export function entryOf(row: Row): StoredLogEntry {
  return {
    id: number(row, 'id'),
    time: number(row, 'time'),
    source: sourceOf(text(row, 'source')),
    level: row.level === null ? null : (LEVELS[number(row, 'level')] ?? null),
    text: text(row, 'text'),
    deploymentId: nullable(text, row, 'deployment_id'),
    instanceId: nullable(text, row, 'instance_id'),
    sessionId: nullable(text, row, 'session_id'),
  }
}

/** The text as it is stored: not too long, and without the one character at which a search in SQLite would stop. */
function fitting(given: string): string {
  const whole = given.replaceAll('\0', '\ufffd')
  const bytes = Buffer.byteLength(whole)
  if (bytes <= MAX_ENTRY_BYTES) return whole
  const mark = ` [the rest of ${bytes} bytes was cut off]`
  const encoded = Buffer.from(whole)
  let end = MAX_ENTRY_BYTES - Buffer.byteLength(mark)
  while (end > 0 && ((encoded[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return encoded.toString('utf8', 0, end) + mark
}

function sourceOf(stored: string): LogSource {
  const known = LOG_SOURCES.find((source) => source === stored)
  if (known !== undefined) return known
  throw new TypeError(`an entry of a log has the source ${JSON.stringify(stored)}`)
}
