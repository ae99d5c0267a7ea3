/** Some lines of a log, ready to be sent: what stands between the brackets of a JSON array of strings. */
export interface LogSlice {
  /** JSON strings with commas between them. */
  readonly body: Uint8Array
  /** The number of the first line in it; lines are numbered from 0 on as they were appended. */
  readonly first: number
  /** One more than the number of the last line in it. */
  readonly end: number
}

/** Where a log stands. */
export interface LogState {
  /** One more than the number of the last line. */
  readonly end: number
  /** The number of the oldest line that a reader can get; lines in the middle of an overlong log are left out with a line that says so. */
  readonly sealed: boolean
  /** sha256 of all kept lines, each with a newline after it, in hex; there when it is sealed. */
  readonly sha256?: string
}

/** Lines as they come up, for one reader. */
export interface LogFollower {
  /** Batches of lines in order, without gaps, until the log is sealed and read to its end. A reader that is slow gets larger batches, not a larger queue. */
  [Symbol.asyncIterator](): AsyncIterator<LogSlice>
  close(): void
}

/** One log that is being written. There is one writer a log. */
export interface LogWriter {
  /** Appends whole lines, already clean (see LineCleaner), and gives the number of the first of them. They are readable when this returns. */
  append(lines: readonly string[]): number
  /** Waits until everything that was appended survives a power cut. */
  flush(): Promise<void>
  /** No line comes after this. It is durable when this resolves; a sealed log cannot be opened for writing. */
  seal(): Promise<void>
  /** Closes without sealing; a later writer goes on after the last whole line. */
  close(): Promise<void>
}

/** All logs. Files on one machine; rows and objects when one machine is too small. */
export interface LogStore {
  /** Opens a log for writing, with what is there already after a crash. */
  openWriter(id: string): Promise<LogWriter>
  /** Where a log stands; one that was never written to is empty. */
  state(id: string): LogState
  /** The newest lines, at most `limit`. */
  tail(id: string, limit: number): LogSlice
  /** The lines before line number `before`, at most `limit`. */
  before(id: string, before: number, limit: number): LogSlice
  /** Follows a log from line number `from` on. */
  follow(id: string, from: number): LogFollower
  remove(id: string): Promise<void>
  close(): Promise<void>
}
