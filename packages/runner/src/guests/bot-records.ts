import type { LogLevel } from '../log/line.ts'
import { parseBotLine, plainLine } from './bot-line.ts'

/** The rest of a record follows at once, or it is none. */
const WAIT_MS = 30
const MAX_LINES = 200
const EXCEPTION = /^[\w.]+(?:: |$)/
const CHAINED = /^(?:During handling of the above exception|The above exception was the direct cause)/

interface Pending {
  readonly level: LogLevel
  readonly lines: string[]
  /** Whether its log library gave it a level. */
  readonly isLogged: boolean
  isTraceback: boolean
}

/** Puts lines together that a bot wrote as one: a message of several lines, a traceback, and what it belongs to. */
export class BotRecords {
  readonly #emit: (level: LogLevel, text: string) => void
  #pending: Pending | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(emit: (level: LogLevel, text: string) => void) {
    this.#emit = emit
  }

  /** Takes a line; `joined` says that it came in one piece with the line before. */
  take(written: string, joined: boolean): void {
    const line = plainLine(written)
    const known = parseBotLine(line)
    if (known === undefined && this.#pending !== undefined && belongs(this.#pending, line, joined)) {
      this.#pending.lines.push(line)
      if (line.startsWith('Traceback ')) this.#pending.isTraceback = true
    } else {
      this.flush()
      const isTraceback = line.startsWith('Traceback ')
      const lines = [known?.text ?? line]
      this.#pending = { level: known?.level ?? 'warn', lines, isLogged: known !== undefined, isTraceback }
    }
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), WAIT_MS).unref()
  }

  /** Nothing more belongs to what came so far. */
  flush(): void {
    clearTimeout(this.#timer)
    const pending = this.#pending
    this.#pending = undefined
    if (pending !== undefined) this.#emit(pending.level, pending.lines.join('\n').trimEnd())
  }
}

function belongs({ level, lines, isLogged, isTraceback }: Pending, line: string, joined: boolean): boolean {
  if (lines.length >= MAX_LINES) return false
  if (line.startsWith('Traceback ')) return isTraceback || level === 'error' || level === 'warn'
  if (/^\s+\S/.test(line)) return isLogged || isTraceback
  if (line === '' || CHAINED.test(line)) return isTraceback
  if (isTraceback) return EXCEPTION.test(line) && /^\s/.test(lines.at(-1) ?? '')
  // What is not shown unless it is asked for must not take along what may only stand next to it.
  return joined && isLogged && level !== 'debug'
}
