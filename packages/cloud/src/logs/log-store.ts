/** A value, or a promise of one: a store of files answers at once, one behind a network later. */
export type Awaitable<T> = T | Promise<T>

/**
 * How lines are counted, here and everywhere: lines have numbers from 0 on, in the order in which they were appended, and a line keeps its
 * number for ever. Of an overlong log the lines in the middle are left out. In their place stands one line that says how many they were. It
 * has the numbers of all of them: as a range it begins with the first and ends after the last one. A reader that stands at a line which
 * has been left out since gets such a line for what is left out from there on (or up to there, when reading backwards), so that whoever
 * goes on from a number sees every kept line once and is told of all others.
 */
export interface LogRange {
  /** The number of the first line in it. */
  readonly first: number
  /** One more than the number of the last line in it. */
  readonly end: number
  /** How many strings there are in it: less than `end - first` when lines were left out. */
  readonly count: number
}

/** Some lines of a log, ready to be sent: what stands between the brackets of a JSON array of strings. */
export interface LogSlice extends LogRange {
  /** JSON strings with `,\n` between them. It may be shared with others: do not write to it. */
  readonly body: Uint8Array
}

/** Lines that were asked for, still in the store: what stands between the brackets of a JSON array of strings. */
export interface LogPage extends LogRange {
  /** How long it is, in bytes. */
  readonly bytes: number
  /** Another one when anything in the page is another, within one log. */
  readonly tag: string
  /** Copies all of it into a buffer that is long enough. Call it in the same turn of the event loop in which the page was given. */
  copyTo(target: Uint8Array, offset?: number): Awaitable<void>
  /** All of it in pieces, for pages too large to be held. Begin in the same turn of the event loop. A piece is valid until the next one is asked for. */
  pieces(): AsyncIterable<Uint8Array>
}

/** Where a log stands. */
export interface LogState {
  /** One more than the number of the last line. */
  readonly end: number
  /** Whether it is complete. */
  readonly sealed: boolean
  /**
   * sha256 of all kept lines, each with a newline after it, in hex, with the line that stands for those left out; there when it is
   * sealed.
   */
  readonly sha256?: string
}

/** Lines as they come up, for one reader. */
export interface LogFollower {
  /**
   * Batches of lines in order, without gaps, until the log is sealed and read to its end, or gone. A reader that is slow gets larger
   * batches, not a larger queue.
   */
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
  state(id: string): Awaitable<LogState>
  /** The newest lines, at most `limit`. */
  tail(id: string, limit: number): Awaitable<LogPage>
  /** The lines before line number `before`, at most `limit`. */
  before(id: string, before: number, limit: number): Awaitable<LogPage>
  /** Follows a log from line number `from` on. */
  follow(id: string, from: number): LogFollower
  remove(id: string): Promise<void>
  close(): Promise<void>
}
