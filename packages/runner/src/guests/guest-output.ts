import type { Readable } from 'node:stream'
import { type GuestReport, parseReportLine, REPORT_MARK } from '@botcli/protocol'
import type { Logger } from '../log/logger.ts'
import { plainLine } from './bot-line.ts'
import { BotRecords } from './bot-records.ts'
import { readLines } from './line-log.ts'

/** How each language says that there was no memory left. */
const OUT_OF_MEMORY = /heap out of memory|^MemoryError\b/

/** What a bot's process writes, brought into the log of whom it works for. */
export class GuestOutput {
  readonly #records = new BotRecords((level, text) => this.#logger[level](text, { from: 'bot' }))
  #logger: Logger
  #outOfMemory = false

  constructor(logger: Logger, stdout: Readable, stderr: Readable) {
    this.#logger = logger
    const leftOut = (count: number) =>
      this.#logger.warn(`the bot wrote too much; ${count} lines are left out`)
    readLines(stdout, { leftOut, line: (line) => this.#logger.info(plainLine(line), { from: 'bot' }) })
    readLines(stderr, {
      leftOut,
      line: (line, joined) => this.#onErrorLine(line, joined),
      end: () => this.#records.flush(),
    })
  }

  /** Who is spoken for from now on: first the runner, later the session. */
  set logger(logger: Logger) {
    this.#records.flush()
    this.#logger = logger
  }

  /** Whether the process said that it had no memory left. */
  get outOfMemory(): boolean {
    return this.#outOfMemory
  }

  /** A report may come after a line that the bot has not ended, such as one that shows progress. */
  #onErrorLine(written: string, joined: boolean): void {
    const mark = written.indexOf(REPORT_MARK)
    const report = mark < 0 ? undefined : parseReportLine(written.slice(mark))
    const line = report === undefined ? written : written.slice(0, mark)
    if (OUT_OF_MEMORY.test(line)) this.#outOfMemory = true
    if (report === undefined || line !== '') this.#records.take(line, joined)
    if (report !== undefined) this.#onReport(report)
  }

  #onReport({ ms, over, at }: GuestReport): void {
    this.#records.flush()
    const seconds = (ms / 1000).toFixed(1)
    const where = at === undefined ? '' : ` at ${at}`
    this.#logger.warn(
      over
        ? `the bot's event loop was blocked for ${seconds} s${where}`
        : `the bot's event loop has been blocked for ${seconds} s${where}, and still is`,
      { ms, ...(at === undefined ? {} : { at }) },
    )
  }
}
