import { formatJson, formatPretty } from './format.ts'
import type { LogFields, LogLevel } from './line.ts'
import { createRedactor, type Redactor } from './redact.ts'

/** Where everything that happens is told. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** A logger that adds these fields to every line. */
  child(fields: LogFields): Logger
}

/** The part of a writable stream that a logger needs. */
export interface LogStream {
  write(text: string): unknown
  readonly writableLength?: number
  readonly isTTY?: boolean
}

/** What a logger is made of. */
export interface LoggerOptions {
  readonly stream: LogStream
  /** Lines for people, or one JSON object a line. Lines for people on a terminal, JSON elsewhere, by default. */
  readonly format?: 'pretty' | 'json'
  /** Default: on a terminal, unless `NO_COLOR` is set in `env`. */
  readonly color?: boolean
  /** Show debug lines too. */
  readonly verbose?: boolean
  readonly redactor?: Redactor
  readonly clock?: () => Date
  readonly env?: Readonly<Record<string, string | undefined>>
}

/** A reader that is this far behind loses lines, so that a stuck pipe cannot fill the memory. */
const MAX_BACKLOG_BYTES = 1024 * 1024

/** Makes a logger. */
export function createLogger(options: LoggerOptions): Logger {
  const { stream, redactor = createRedactor(), clock = () => new Date(), env = {} } = options
  const terminal = stream.isTTY === true
  const format = options.format ?? (terminal ? 'pretty' : 'json')
  const color = options.color ?? (terminal && !env.NO_COLOR)
  let lost = 0

  const render = (level: LogLevel, message: string, fields: LogFields): string => {
    const line = { time: clock(), level, message, fields }
    return format === 'json' ? formatJson(line) : formatPretty(line, color)
  }

  const write = (level: LogLevel, message: string, fields: LogFields): void => {
    if (level === 'debug' && !options.verbose) return
    if ((stream.writableLength ?? 0) > MAX_BACKLOG_BYTES) {
      lost += 1
      return
    }
    if (lost > 0) {
      stream.write(render('warn', 'log lines were lost because nobody read them', { lost }))
      lost = 0
    }
    const clean = Object.fromEntries(
      Object.entries(fields).map(([name, value]) => [name, redactor.value(name, value)]),
    )
    stream.write(render(level, redactor.text(message), clean))
  }

  const make = (base: LogFields): Logger => ({
    debug: (message, fields) => write('debug', message, { ...base, ...fields }),
    info: (message, fields) => write('info', message, { ...base, ...fields }),
    warn: (message, fields) => write('warn', message, { ...base, ...fields }),
    error: (message, fields) => write('error', message, { ...base, ...fields }),
    child: (fields) => make({ ...base, ...fields }),
  })
  return make({})
}

/** A logger that says nothing. */
export const silentLogger: Logger = {
  debug: () => {},
  info: () => {},
  warn: () => {},
  error: () => {},
  child: () => silentLogger,
}
