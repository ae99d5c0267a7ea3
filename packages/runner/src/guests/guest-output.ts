import type { Readable } from 'node:stream'
import { type GuestReport, parseReportLine } from '@botcli/protocol'
import type { Logger } from '../log/logger.ts'
import { readLines } from './line-log.ts'

/** How each language says that there was no memory left. */
const OUT_OF_MEMORY = /heap out of memory|^MemoryError\b/

/** What a bot's process writes, brought into the log of whom it works for. */
export class GuestOutput {
  /** Who is spoken for: the runner, and later the session. */
  logger: Logger
  #outOfMemory = false

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

  #onErrorLine(line: string): void {
    const report = parseReportLine(line)
    if (report !== undefined) {
      this.#onReport(report)
      return
    }
    if (OUT_OF_MEMORY.test(line)) this.#outOfMemory = true
    this.logger.warn(line, { from: 'bot' })
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
