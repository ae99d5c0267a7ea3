import { createLogger, type Logger } from '../log/logger.ts'

/** One line of the log, as its JSON says. */
export type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string; readonly level: string }

/** A real logger whose lines a test can read. */
export class LogCapture {
  readonly lines: LogLine[] = []
  readonly logger: Logger

  constructor() {
    this.logger = createLogger({
      stream: { write: (text) => this.lines.push(JSON.parse(text) as LogLine) },
      format: 'json',
      verbose: true,
    })
  }

  /** The first line whose message holds this text. */
  find(text: string): LogLine | undefined {
    return this.lines.find((line) => line.msg.includes(text))
  }
}
