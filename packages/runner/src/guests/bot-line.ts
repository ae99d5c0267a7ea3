import type { LogLevel } from '../log/line.ts'

const LEVELS: Readonly<Record<string, LogLevel>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'info',
  SUCCESS: 'info',
  WARNING: 'warn',
  ERROR: 'error',
  CRITICAL: 'error',
}
const NAMES = Object.keys(LEVELS).join('|')
/** What the usual log libraries of Python put before a message: a time and a level, or a level and a name. */
const HEADS = [
  new RegExp(
    `^\\d{4}-\\d\\d-\\d\\d[ T]\\d\\d:\\d\\d:\\d\\d[.,]\\d+(?:[+-]\\d\\d:?\\d\\d)? \\| (${NAMES}) *\\| `,
  ),
  new RegExp(`^(${NAMES}):(?=[\\w.]+:)`),
]

/** A line that a bot wrote, as its log library meant it. */
export interface BotLine {
  readonly level: LogLevel
  readonly text: string
}

/** Reads the level of a line, and takes away what our own log says already. Nothing for a line that tells none. */
export function parseBotLine(line: string): BotLine | undefined {
  for (const head of HEADS) {
    const [whole, name = ''] = head.exec(line) ?? []
    const level = LEVELS[name]
    if (whole !== undefined && level !== undefined) return { level, text: line.slice(whole.length) }
  }
  return undefined
}
