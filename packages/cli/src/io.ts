/** A stream that text is written to. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly writableLength?: number
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** The part of `process` that the command uses. */
export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly env: Readonly<Record<string, string | undefined>>
  cwd(): string
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  exit(code: number): unknown
}
