/** How much a line matters. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Named values that go with a line. */
export type LogFields = Readonly<Record<string, unknown>>

/** One line of the log before it is spelled out. Its fields are plain JSON. */
export interface LogLine {
  readonly time: Date
  readonly level: LogLevel
  readonly message: string
  readonly fields: LogFields
}
