import type { AgentLogEntry } from '@botcli/protocol/cloud'
import { COLOURS, type Paint } from '../paint.ts'
import { type Desk, printable } from '../remote/desk.ts'
import type { AgentLogEvent } from '../remote/follow-agent-log.ts'

const LEVEL_COLOURS = {
  debug: COLOURS.dim,
  info: COLOURS.cyan,
  warn: COLOURS.yellow,
  error: COLOURS.red,
} as const
const LEVEL_WIDTH = 5
const SESSION_WIDTH = 8

/** What of an entry is shown beside its text. */
export interface EntryManner {
  /** The day too, or the time alone. */
  readonly day: boolean
  /** The session that it is of. */
  readonly session: boolean
}

/** An entry for people: time, level, session, text. The further lines of a text begin below its first. */
export function entryLines(entry: AgentLogEntry, paint: Paint, manner: EntryManner): readonly string[] {
  const { timestamp, level, sessionId, log } = entry
  const time = manner.day ? timestamp.replace(/\.\d+Z$/, 'Z') : timestamp.slice(11, 19)
  const word = (level ?? '').padEnd(LEVEL_WIDTH)
  const session = (sessionId ?? '-').slice(0, SESSION_WIDTH).padEnd(SESSION_WIDTH)
  const head = [
    paint(COLOURS.dim, time),
    level === null ? word : paint(LEVEL_COLOURS[level], word),
    ...(manner.session ? [paint(COLOURS.dim, session)] : []),
  ]
  const indent = ' '.repeat(time.length + 2 + LEVEL_WIDTH + 2 + (manner.session ? SESSION_WIDTH + 2 : 0))
  const [first = '', ...others] = log.trimEnd().split('\n')
  return [`${head.join('  ')}  ${printable(first)}`, ...others.map((line) => indent + printable(line))].map(
    (line) => line.trimEnd(),
  )
}

/** Shows an event of a log that is followed: entries on stdout, remarks beside them. */
export function showLogEvent(event: AgentLogEvent, desk: Desk, manner: EntryManner): void {
  if (desk.json) {
    if (event.type === 'entry') desk.emit('agent-log', event.entry)
    else {
      const { type, ...fields } = event
      desk.emit(type, fields)
    }
    return
  }
  switch (event.type) {
    case 'entry':
      for (const line of entryLines(event.entry, desk.paint, manner)) desk.io.stdout.write(`${line}\n`)
      break
    case 'missed':
      desk.note('(entries that came up meanwhile are not kept any more)')
      break
    case 'replaced':
      desk.note('(the agent was removed meanwhile; this is the log of the one that has its name now)')
      break
    case 'removed':
      desk.note('(the agent was removed, and its log with it)')
      break
    case 'lost':
      desk.note(`(connection lost: ${event.reason}; trying again for some minutes)`)
      break
    case 'resumed':
      desk.note(`(connected again after ${(event.afterMs / 1000).toFixed(1)} s)`)
  }
}
