/** A stream that text is written to. */
export interface Output {
  write(text: string): unknown
  readonly isTTY?: boolean
  readonly writableLength?: number
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** A terminal whose keys are read one by one. */
export interface Keyboard {
  readonly isTTY?: boolean
  setRawMode?(raw: boolean): unknown
  on(event: 'data', listener: (keys: Uint8Array | string) => void): unknown
  off(event: 'data', listener: (keys: Uint8Array | string) => void): unknown
  resume(): unknown
  pause(): unknown
}

/** The part of `process` that the command uses. */
export interface Io {
  readonly stdout: Output
  readonly stderr: Output
  readonly stdin?: Keyboard
  readonly env: Readonly<Record<string, string | undefined>>
  cwd(): string
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown
  exit(code: number): unknown
}
