import { CONTINUES } from './line-cleaner.ts'
import { type RedactionTable, TELLING_CHARACTERS } from './redaction-table.ts'

/** What stands for a secret. */
export const REDACTED = '***'
/** Lines that are held back at most. */
const MAX_HELD = 256

interface Held {
  readonly line: string
  /** What counts of it: all but the mark of a line that was split. */
  readonly length: number
}

/**
 * Replaces secrets in lines, in every spelling that its table has, also when a secret goes on in the next line. For this a line that ends like the beginning of a secret is held back until the next one tells, or until `close`.
 *
 * It looks at four characters at a time: a table says for their hash whether a spelling begins like this, and only then they are compared.
 */
export class Redactor {
  readonly #table: RedactionTable
  #held: Held[] = []
  /** The last characters before the held lines, and the text of these lines, without newlines. */
  #text = ''
  /** How many characters stand before the held lines. */
  #context = 0
  /** What is to be replaced in the text, as pairs of start and end. */
  #marks: number[] = []

  constructor(table: RedactionTable) {
    this.#table = table
  }

  /** Takes lines, and gives those that are ready, in order. */
  push(lines: readonly string[]): readonly string[] {
    if (this.#table.isEmpty) return lines
    const ready: string[] = []
    for (const line of lines) this.#take(line, ready)
    return ready
  }

  /** The lines that were held back. What is pushed after this has nothing to do with what was before. */
  close(): readonly string[] {
    const ready: string[] = []
    this.#release(this.#held.length, ready)
    this.#text = ''
    this.#context = 0
    return ready
  }

  #take(line: string, ready: string[]): void {
    const text = line.endsWith(CONTINUES) ? line.slice(0, -CONTINUES.length) : line
    this.#held.push({ line, length: text.length })
    this.#text += text
    const open = this.#search()
    let done = 0
    let end = this.#context
    for (const { length } of this.#held) {
      end += length
      if (end > open) break
      done += 1
    }
    this.#release(Math.max(done, this.#held.length - MAX_HELD), ready)
  }

  /** Marks all secrets in the text, and gives the place from which on it may be the beginning of one. */
  #search(): number {
    const text = this.#text
    const { begins } = this.#table
    const last = text.length - TELLING_CHARACTERS
    let open = text.length
    let code = (text.charCodeAt(0) << 8) ^ (text.charCodeAt(1) << 4) ^ text.charCodeAt(2)
    for (let at = 0; at <= last; at += 1) {
      code = ((code << 4) ^ text.charCodeAt(at + 3)) & 0xffff
      if (begins[code] === 1) open = this.#compare(at, open)
    }
    return open
  }

  /** Gives the place from which on the text may be the beginning of a secret, when that was not found before. */
  #compare(at: number, found: number): number {
    const text = this.#text
    const spellings = this.#table.startingWith(text.slice(at, at + TELLING_CHARACTERS))
    let from = 0
    let to = spellings.length
    // Character by character the range of those that the text may be gets narrower, so that very many cost little more than one.
    for (let depth = TELLING_CHARACTERS; from < to; depth += 1) {
      const first = spellings[from] ?? ''
      if (to - from === 1) return this.#compareOne(first, at, found)
      if (first.length === depth) {
        this.#mark(at, at + depth)
        from += 1
      }
      if (at + depth >= text.length) return from < to && found === text.length ? at : found
      const code = text.charCodeAt(at + depth)
      from = firstFrom(spellings, from, to, depth, code)
      to = firstFrom(spellings, from, to, depth, code + 1)
    }
    return found
  }

  #compareOne(spelling: string, at: number, found: number): number {
    const text = this.#text
    if (spelling.length <= text.length - at) {
      if (text.startsWith(spelling, at)) this.#mark(at, at + spelling.length)
    } else if (found === text.length && spelling.startsWith(text.slice(at))) return at
    return found
  }

  #mark(start: number, end: number): void {
    const last = this.#marks.length - 2
    const before = { start: this.#marks[last] ?? 0, end: this.#marks[last + 1] ?? -1 }
    if (start >= before.start && start <= before.end) this.#marks[last + 1] = Math.max(end, before.end)
    else this.#marks.push(start, end)
  }

  /** Gives the first lines, and keeps what is needed to find a secret that began in them. */
  #release(count: number, ready: string[]): void {
    if (count === 0) return
    const marks = merge(this.#marks)
    let at = this.#context
    for (const { line, length } of this.#held.slice(0, count)) {
      ready.push(marks.length === 0 ? line : replace(line, length, at, marks))
      at += length
    }
    this.#held = count === this.#held.length ? [] : this.#held.slice(count)
    const kept = Math.max(0, at - (TELLING_CHARACTERS - 1))
    this.#text = this.#text.slice(kept)
    this.#context = at - kept
    this.#marks = this.#held.length === 0 ? [] : marks.map((place) => Math.max(0, place - kept))
  }
}

/** The first of a range in order whose character at a place has this code or a higher one. */
function firstFrom(
  spellings: readonly string[],
  from: number,
  to: number,
  depth: number,
  code: number,
): number {
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >> 1
    if ((spellings[middle] ?? '').charCodeAt(depth) < code) low = middle + 1
    else high = middle
  }
  return low
}

/** The same places, in order and without overlaps. */
function merge(marks: readonly number[]): number[] {
  if (marks.length <= 2) return [...marks]
  const pairs: [number, number][] = []
  for (let index = 0; index < marks.length; index += 2) pairs.push([marks[index] ?? 0, marks[index + 1] ?? 0])
  pairs.sort((a, b) => a[0] - b[0])
  const merged: number[] = []
  for (const [start, end] of pairs) {
    const before = merged.at(-1)
    if (before !== undefined && start <= before) merged[merged.length - 1] = Math.max(before, end)
    else merged.push(start, end)
  }
  return merged
}

/** A line without what is marked in it. It begins at a place of the text, and so much of it is in the text. */
function replace(line: string, length: number, begin: number, marks: readonly number[]): string {
  let result = ''
  let from = 0
  for (let index = 0; index < marks.length; index += 2) {
    const start = Math.max(0, (marks[index] ?? 0) - begin)
    const end = Math.min(length, (marks[index + 1] ?? 0) - begin)
    if (end <= start) continue
    result += line.slice(from, start) + REDACTED
    from = end
  }
  return result + line.slice(from)
}
