/** Where the control plane tells what happens; the runner's logger is one. */
export interface CloudLog {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

/** Milliseconds since 1970. */
export type Clock = () => number
