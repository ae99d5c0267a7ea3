import type { LogLines } from './log-lines.ts'

/** The lines that hold some words, whatever their case. They are known by number, which stays when older lines come. */
export class LogSearch {
  readonly words: string
  readonly #pattern: RegExp | undefined
  #hits: number[] = []
  /** The numbers that were looked at: from the first, up to the last. */
  #first = 0
  #end = 0

  constructor(words: string) {
    this.words = words
    this.#pattern = words === '' ? undefined : patternOf(words)
  }

  get hits(): readonly number[] {
    return this.#hits
  }

  /** Looks at the lines that came since the last time. */
  extend(lines: LogLines): void {
    if (this.#pattern === undefined || lines.count === 0) return
    if (this.#first === this.#end) {
      this.#hits = this.#find(lines, 0, lines.count)
    } else {
      const older = lines.first < this.#first ? this.#find(lines, 0, lines.indexOf(this.#first)) : []
      const newer = lines.end > this.#end ? this.#find(lines, lines.indexOf(this.#end), lines.count) : []
      const kept = lines.first > this.#first ? this.#hits.filter((hit) => hit >= lines.first) : this.#hits
      if (older.length > 0 || newer.length > 0 || kept !== this.#hits) {
        this.#hits = [...older, ...kept, ...newer]
      }
    }
    this.#first = lines.first
    this.#end = lines.end
  }

  /** The index of the first hit at or after a line, or else of the last one before it. */
  indexFrom(number: number): number {
    const found = this.#hits.findIndex((hit) => hit >= number)
    return found < 0 ? Math.max(0, this.#hits.length - 1) : found
  }

  /** A text in parts, every other of which is a hit, beginning with one that is not. */
  parts(text: string): readonly string[] {
    return this.#pattern === undefined ? [text] : text.split(new RegExp(`(${this.#pattern.source})`, 'gi'))
  }

  #find(lines: LogLines, from: number, to: number): number[] {
    const hits: number[] = []
    for (let index = from; index < to; index += 1) {
      if (this.#pattern?.test(lines.text(index))) hits.push(lines.at(index)?.number ?? 0)
    }
    return hits
  }
}

function patternOf(words: string): RegExp {
  return new RegExp(words.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), 'i')
}
