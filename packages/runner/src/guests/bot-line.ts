import type { LogLevel } from '../log/line.ts'

const LEVELS: Readonly<Record<string, LogLevel>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  SUCCESS: 'info',
  WARN: 'warn',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
  FATAL: 'error',
}
const NAMES = Object.keys(LEVELS).join('|')
const TIME = String.raw`\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?\]?`
const GAP = String.raw`[\s|:[\](){}-]{1,12}`
/** Behind a name there is more than a space, or it may be any word. */
const MARKED_GAP = String.raw`\s{0,4}[|:[\](){}-]${GAP}`
/** What log libraries put before a message: a time and a level, with a name between them or not, or a level and a name. */
const TIMED = new RegExp(`^${TIME}${GAP}(?:(${NAMES})\\b${GAP}|([\\w.]{1,80}${MARKED_GAP}(${NAMES})\\b))`)
const NAMED = new RegExp(`^(${NAMES}):(?=[\\w.]{1,80}:)`)
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const COLOURS = /\u001b\[[\d;]{0,20}m/g

/** A line that a bot wrote, as its log library meant it. */
export interface BotLine {
  readonly level: LogLevel
  readonly text: string
}

/** A line without the colours of a terminal that it is not written to. */
export function plainLine(line: string): string {
  return line.replaceAll(COLOURS, '')
}

/** Reads the level of a line, and takes away what our own log says already. Nothing for a line that tells none. */
export function parseBotLine(line: string): BotLine | undefined {
  const [whole = '', first, named, second] = TIMED.exec(line) ?? NAMED.exec(line) ?? []
  const level = LEVELS[first ?? second ?? '']
  if (level === undefined) return undefined
  return { level, text: line.slice(named === undefined ? whole.length : whole.length - named.length) }
}
