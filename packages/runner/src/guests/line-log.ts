import type { Readable } from 'node:stream'

const MAX_LINE = 8 * 1024
/** A bot that writes faster than this loses lines, not the log its use. */
const MAX_LINES_PER_SECOND = 500

/** What hears the lines. */
export interface LineLogOptions {
  /** `joined` says that the line came in one piece with the line before. */
  readonly line: (line: string, joined: boolean) => void
  /** Hears that there will be no more. */
  readonly end?: () => void
  /** Hears how many lines were left out since the last time. */
  readonly leftOut: (count: number) => void
  readonly clock?: () => number
}

/** Cuts what a process writes into lines of bounded length and number. */
export function readLines(stream: Readable, options: LineLogOptions): void {
  const { line, leftOut, end = () => {}, clock = () => performance.now() } = options
  let rest = ''
  let windowStart = clock()
  let count = 0

  const emit = (text: string, joined = false): void => {
    const now = clock()
    if (now - windowStart >= 1000) {
      if (count > MAX_LINES_PER_SECOND) leftOut(count - MAX_LINES_PER_SECOND)
      windowStart = now
      count = 0
    }
    count += 1
    if (count <= MAX_LINES_PER_SECOND) line(text.endsWith('\r') ? text.slice(0, -1) : text, joined)
  }

  stream.setEncoding('utf8')
  stream.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const [index, text] of lines.entries()) emit(text.slice(0, MAX_LINE), index > 0)
    if (rest.length > MAX_LINE) {
      emit(rest.slice(0, MAX_LINE))
      rest = ''
    }
  })
  stream.on('end', () => {
    if (rest !== '') emit(rest)
    end()
    if (count > MAX_LINES_PER_SECOND) leftOut(count - MAX_LINES_PER_SECOND)
  })
  // A broken pipe of a process that ends is no news.
  stream.on('error', () => {})
}
