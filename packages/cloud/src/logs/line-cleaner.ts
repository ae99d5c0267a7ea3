import { TerminalText } from './terminal-text.ts'

/** The longest line of a log, in bytes of UTF-8. */
export const MAX_LINE_BYTES = 64 * 1024
/** Stands at the end of a part of a longer line that goes on in the next one. */
export const CONTINUES = ' [the line goes on]'
const PART_BYTES = MAX_LINE_BYTES - Buffer.byteLength(CONTINUES)

/**
 * Makes lines of the bytes of a build's output, however they are split. A line is valid UTF-8 (bad bytes are replaced), without its
 * newline and without escape sequences (colours too: a log is read by people, browsers and tools alike), and shows what a terminal would
 * show at its end (see TerminalText). A line longer than 64 KiB becomes several, each but the last with a mark at its end.
 *
 * A line comes out when it ends, never before: lines are numbered and final, and half a line could not be taken back. So a progress bar
 * is one line, with its last state, and a prompt that nobody answers comes out with `end` or `close`.
 */
export class LineCleaner {
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  readonly #text = new TerminalText()
  #lines: string[] = []
  /** Whether a line has begun, even when nothing of it is to be seen. */
  #begun = false
  readonly #split = () => {
    while (this.#text.bytes > MAX_LINE_BYTES) this.#lines.push(this.#text.cut(PART_BYTES) + CONTINUES)
  }

  /** Takes output, and gives the lines that ended in it. */
  write(output: Uint8Array | string): string[] {
    const bytes = typeof output === 'string' ? Buffer.from(output) : output
    this.#take(this.#decoder.decode(bytes, { stream: true }))
    return this.#give()
  }

  /** Ends a line that has begun, if there is one, and gives it. More may be written. */
  end(): string[] {
    // A character that has begun is bad when nothing comes after it.
    this.#take(this.#decoder.decode())
    if (this.#begun) this.#endLine()
    return this.#give()
  }

  /** The rest. */
  close(): string[] {
    return this.end()
  }

  #take(text: string): void {
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      if (at > from) this.#text.add(text.slice(from, at), this.#split)
      this.#endLine()
      from = at + 1
    }
    if (from === text.length) return
    this.#begun = true
    this.#text.add(from === 0 ? text : text.slice(from), this.#split)
  }

  #endLine(): void {
    this.#lines.push(this.#text.end())
    this.#begun = false
  }

  #give(): string[] {
    const lines = this.#lines
    this.#lines = []
    return lines
  }
}
