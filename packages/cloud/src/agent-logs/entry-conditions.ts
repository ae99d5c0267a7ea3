import type { SqlValue } from '../store/sqlite/database.ts'
import type { AgentLogFilter } from './agent-log-store.ts'
import { LEVEL_RANKS } from './entry-row.ts'

/** A condition in SQL, with its values. */
export interface Condition {
  readonly sql: string
  readonly values: readonly SqlValue[]
}

/** What entries must be, in the words of SQLite. */
export interface EntryConditions {
  /** Where the entries are read from, with the index that leads to the fewest of them. */
  readonly source: string
  /** What that index looks for. */
  readonly sought: Condition
  /** What else must hold of each entry; nothing if that is all. */
  readonly rest: Condition | undefined
  /** Whether texts are searched, which can take long where they are long. */
  readonly isSearch: boolean
  /** Looks once more at the text of an entry, where SQLite has not looked at everything. */
  readonly isWanted: ((text: string) => boolean) | undefined
}

/** The least rank that the index of grave entries has. */
const GRAVE = LEVEL_RANKS.warn
/** SQLite compares so many characters; with longer patterns it could take a tenth of a second for one text. */
const MAX_PATTERN = 32
/** How SQLite is told which characters of a pattern are meant as they are. */
const SPECIAL_IN_PATTERNS = /[\\%_]/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
const NOT_ASCII = /[^\u0000-\u007f]+/g

/** Spells a filter for SQLite. */
export function conditionsOf(log: number, filter: AgentLogFilter): EntryConditions {
  const { deploymentId, instanceId, sessionId, source, level, query } = filter
  const ids = [
    { column: 'session_id', index: 'entries_of_session', value: sessionId },
    { column: 'instance_id', index: 'entries_of_instance', value: instanceId },
    { column: 'deployment_id', index: 'entries_of_deployment', value: deploymentId },
  ].filter(({ value }) => value !== undefined)
  const [best, ...others] = ids
  const rest = others.map(({ column, value = null }) => where(`${column} = ?`, value))

  let table = 'entries'
  let sought = where('log = ?', log)
  if (best !== undefined) {
    table = `entries INDEXED BY ${best.index}`
    sought = where(`log = ? AND ${best.column} = ?`, log, best.value ?? null)
  } else if (level !== undefined && LEVEL_RANKS[level] >= GRAVE) {
    table = 'entries INDEXED BY entries_that_are_grave'
    sought = where('log = ? AND level >= 2', log)
  } else if (source !== undefined && source !== 'run') {
    table = 'entries INDEXED BY entries_before_the_run'
    sought = where(`log = ? AND source <> 'run' AND source = ?`, log, source)
  }

  if (source !== undefined) rest.push(where('source = ?', source))
  // Without a level it counts as info.
  if (level !== undefined && level !== 'debug')
    rest.push(where('coalesce(level, 1) >= ?', LEVEL_RANKS[level]))
  if (filter.startTime !== undefined) rest.push(where('time >= ?', filter.startTime))
  if (filter.endTime !== undefined) rest.push(where('time <= ?', filter.endTime))
  if (query !== undefined) rest.push(where(`text LIKE ? ESCAPE '\\'`, patternOf(query)))
  return {
    source: table,
    sought,
    rest: all(rest),
    isSearch: query !== undefined,
    isWanted: query === undefined ? undefined : recheckOf(query),
  }
}

function where(sql: string, ...values: readonly SqlValue[]): Condition {
  return { sql, values }
}

function all(conditions: readonly Condition[]): Condition | undefined {
  if (conditions.length === 0) return undefined
  return {
    sql: conditions.map(({ sql }) => sql).join(' AND '),
    values: conditions.flatMap(({ values }) => values),
  }
}

/** SQLite takes large and small letters as the same in ASCII only, so that other characters stand for anything at first. */
function patternOf(query: string): string {
  const literal = query.slice(0, MAX_PATTERN).replace(SPECIAL_IN_PATTERNS, (character) => `\\${character}`)
  return `%${literal.replace(NOT_ASCII, '%')}%`
}

function recheckOf(query: string): ((text: string) => boolean) | undefined {
  if (query.length <= MAX_PATTERN && query.search(NOT_ASCII) < 0) return undefined
  const wanted = query.toLowerCase()
  return (text) => text.toLowerCase().includes(wanted)
}
