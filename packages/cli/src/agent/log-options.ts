import { AGENT_LOG_LIMIT, LOG_LEVELS, LOG_SOURCES } from '@botcli/protocol/cloud'
import { flag, optional, ValueError, valued } from '../options/option.ts'
import { JSON_OPTION } from '../remote/action.ts'
import { notEmpty } from '../remote/values.ts'
import { oneOf, wholeNumber } from '../run/values.ts'

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }
const MAX_QUERY = 500

/** The options of logs of agents and of sessions. */
export const LOG_OPTIONS = {
  follow: flag({ name: 'follow', short: 'f', help: 'Go on as more comes up, until Ctrl-C.' }),
  lines: valued({
    name: 'lines',
    short: 'n',
    argument: 'N',
    default: '100',
    help: `How many of the newest entries, at most ${AGENT_LOG_LIMIT.max}.`,
    parse: wholeNumber(AGENT_LOG_LIMIT.min, AGENT_LOG_LIMIT.max),
  }),
  level: optional({
    name: 'level',
    argument: 'LEVEL',
    help: `Only what is so grave or graver: ${LOG_LEVELS.join(', ')}.`,
    parse: oneOf(LOG_LEVELS),
  }),
  query: optional({
    name: 'query',
    argument: 'TEXT',
    help: 'Only what has this text in it.',
    parse: parseQuery,
  }),
  since: optional({
    name: 'since',
    argument: 'TIME',
    help: 'Only what is younger: 90s, 15m, 2h, 1d, or a time such as 2026-01-31T12:00Z.',
    parse: (text) => parseSince(text, Date.now()),
  }),
} as const

/** How programs read a log. */
export const LOG_JSON = flag({
  ...JSON_OPTION,
  help: 'Print the result as JSON; with -f, a line for each event.',
})

/** Where a log entry may come from. */
export const SOURCE_OPTION = optional({
  name: 'source',
  argument: 'SOURCE',
  help: `Only what comes from there: ${LOG_SOURCES.join(', ')}.`,
  parse: oneOf(LOG_SOURCES),
})

/** A time before now, or a point in time, as Unix seconds. */
export function parseSince(text: string, now: number): number {
  const [, amount, unit = ''] = /^(\d{1,7})([smhd])$/.exec(text) ?? []
  if (amount !== undefined) {
    return Math.max(0, Math.floor(now / 1000 - Number(amount) * (UNIT_SECONDS[unit] ?? 1)))
  }
  const time = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN
  if (time >= 0) return Math.floor(time / 1000)
  throw new ValueError(
    `must be a length of time such as 90s, 15m, 2h or 1d, or a time such as 2026-01-31T12:00Z, not ${JSON.stringify(text)}.`,
  )
}

function parseQuery(text: string): string {
  if (text.length <= MAX_QUERY) return notEmpty(text)
  throw new ValueError(`must have at most ${MAX_QUERY} characters.`)
}
