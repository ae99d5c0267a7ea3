import type { Readable } from 'node:stream'
import { type GuestReport, parseReportLine, REPORT_MARK } from '@botcli/protocol'
import type { LogLevel } from '../log/line.ts'
import type { Logger } from '../log/logger.ts'
import { parseBotLine } from './bot-line.ts'
import { readLines } from './line-log.ts'

/** How each language says that there was no memory left. */
const OUT_OF_MEMORY = /heap out of memory|^MemoryError\b/

/** What a bot's process writes, brought into the log of whom it works for. */
export class GuestOutput {
  /** Who is spoken for: the runner, and later the session. */
  logger: Logger
  #outOfMemory = false
  /** Lines that follow one with a level, such as a traceback, belong to it. */
  #level: LogLevel = 'warn'

  constructor(logger: Logger, stdout: Readable, stderr: Readable) {
    this.logger = logger
    const leftOut = (count: number) => this.logger.warn(`the bot wrote too much; ${count} lines are left out`)
    readLines(stdout, { leftOut, line: (line) => this.logger.info(line, { from: 'bot' }) })
    readLines(stderr, { leftOut, line: (line) => this.#onErrorLine(line) })
  }

  /** Whether the process said that it had no memory left. */
  get outOfMemory(): boolean {
    return this.#outOfMemory
  }

  /** A report may come after a line that the bot has not ended, such as one that shows progress. */
  #onErrorLine(written: string): void {
    const mark = written.indexOf(REPORT_MARK)
    const report = mark < 0 ? undefined : parseReportLine(written.slice(mark))
    if (report !== undefined) this.#onReport(report)
    const line = report === undefined ? written : written.slice(0, mark)
    if (line === '' && report !== undefined) return
    if (OUT_OF_MEMORY.test(line)) this.#outOfMemory = true
    const known = parseBotLine(line)
    if (known !== undefined) this.#level = known.level
    else if (!continues(line, this.#level)) this.#level = 'warn'
    this.logger[this.#level](known?.text ?? line, { from: 'bot' })
  }

  #onReport({ ms, over, at }: GuestReport): void {
    const seconds = (ms / 1000).toFixed(1)
    const where = at === undefined ? '' : ` at ${at}`
    this.logger.warn(
      over
        ? `the bot's event loop was blocked for ${seconds} s${where}`
        : `the bot's event loop has been blocked for ${seconds} s${where}, and still is`,
      { ms, ...(at === undefined ? {} : { at }) },
    )
  }
}

/** Whether a line belongs to the one before it. A traceback may follow anything, but is always worth to be seen. */
function continues(line: string, level: LogLevel): boolean {
  return /^\s/.test(line) || (line.startsWith('Traceback ') && level === 'error')
}
