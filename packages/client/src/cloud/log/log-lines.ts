import type { AgentLogEntry } from '@botcli/protocol/cloud'

/** The entry that a line is a part of: entries may have several lines. */
export interface EntryPart {
  readonly entry: AgentLogEntry
  /** Whether it is the first line of the entry. */
  readonly first: boolean
}

/**
 * A line of a log and its number. Those of builds count from 0, and a line that stands for left-out ones has the number of the last of them.
 * Those of entries count from where one began to read, so that older ones have numbers below 0.
 */
export interface LogLine {
  readonly number: number
  readonly text: string
  readonly part?: EntryPart | undefined
}

/** How many lines the page holds at most: browsers cannot lay out a much higher list. */
export const MAX_LINES = 500_000

/** A run of lines of one log, which grows at both ends. */
export class LogLines {
  readonly #max: number
  readonly #counted: boolean
  #texts: string[] = []
  #numbers: number[] = []
  #parts: (EntryPart | undefined)[] = []
  #cut = false

  /** `counted` says that numbers count from the start of the log, and so tell how many lines are before these. */
  constructor(max = MAX_LINES, counted = true) {
    this.#max = max
    this.#counted = counted
  }

  get count(): number {
    return this.#texts.length
  }

  /** The number of the first line held. */
  get first(): number {
    return this.#numbers[0] ?? 0
  }

  /** One more than the number of the last line held. */
  get end(): number {
    return (this.#numbers.at(-1) ?? -1) + 1
  }

  /** How many older lines may still be put in front, as far as their numbers tell. */
  get above(): number {
    return this.#counted ? Math.max(0, Math.min(this.first, this.#max - this.count)) : 0
  }

  /** Whether there is no room for older lines, or a gap would be before these. */
  get isCut(): boolean {
    return this.#cut || this.count >= this.#max
  }

  /** How many lines at the start of the log do not fit in here. */
  get beyond(): number {
    return this.#counted ? this.first - this.above : 0
  }

  /** The line at an index, from 0 for the first line held. */
  at(index: number): LogLine | undefined {
    const text = this.#texts[index]
    const number = this.#numbers[index]
    if (text === undefined || number === undefined) return undefined
    const part = this.#parts[index]
    return part === undefined ? { number, text } : { number, text, part }
  }

  text(index: number): string {
    return this.#texts[index] ?? ''
  }

  /** The index of a line, or of the one that stands for it; the nearest one held for all others. */
  indexOf(number: number): number {
    let low = 0
    let high = this.count - 1
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#numbers[middle] ?? 0) < number) low = middle + 1
      else high = middle
    }
    return Math.max(0, low)
  }

  /** Whether a line, or one that stands for it, is held. */
  has(number: number): boolean {
    return this.count > 0 && number >= this.first && number < this.end
  }

  /** Adds newer lines. Gives how many of the oldest had to go for them. */
  append(lines: readonly LogLine[]): number {
    for (const { number, text, part } of lines) {
      // After a cut connection a line may come a second time.
      if (this.count > 0 && number < this.end) continue
      this.#texts.push(text)
      this.#numbers.push(number)
      this.#parts.push(part)
    }
    if (this.count <= this.#max) return 0
    // More than needed goes at once, because every time costs as much as there are lines.
    const gone = this.count - Math.ceil(this.#max * 0.9)
    this.#texts = this.#texts.slice(gone)
    this.#numbers = this.#numbers.slice(gone)
    this.#parts = this.#parts.slice(gone)
    this.#cut = true
    return gone
  }

  /** Puts older lines in front. */
  prepend(lines: readonly LogLine[]): void {
    this.#texts = [...lines.map(({ text }) => text), ...this.#texts]
    this.#numbers = [...lines.map(({ number }) => number), ...this.#numbers]
    this.#parts = [...lines.map(({ part }) => part), ...this.#parts]
  }
}
