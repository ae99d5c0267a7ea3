import type { Output } from '../io.ts'
import { size } from './context/size.ts'

const WIDTH = 24
const WORD = 8
const REDRAW_MS = 100
const STEPS = 4

/** Shows how far something is that is counted in bytes: a bar that moves on a terminal, some lines elsewhere. */
export class Progress {
  readonly #verb: string
  readonly #output: Output
  readonly #total: number
  readonly #clock: () => number
  #drawnAt = Number.NEGATIVE_INFINITY
  #step = 0
  #isOpen = false

  constructor(verb: string, output: Output, total: number, clock: () => number = () => performance.now()) {
    this.#verb = verb
    this.#output = output
    this.#total = total
    this.#clock = clock
  }

  /** So many bytes are done. */
  update(bytes: number): void {
    const part = this.#total === 0 ? 1 : Math.min(1, bytes / this.#total)
    if (this.#output.isTTY) this.#draw(part, bytes)
    else this.#tell(part, bytes)
  }

  /** Ends the line of the bar, whatever came of it. */
  close(): void {
    if (this.#isOpen) this.#output.write('\n')
    this.#isOpen = false
  }

  #draw(part: number, bytes: number): void {
    const now = this.#clock()
    if (part < 1 && now - this.#drawnAt < REDRAW_MS) return
    this.#drawnAt = now
    const full = Math.floor(part * WIDTH)
    const bar = `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)}`
    this.#output.write(
      `\r\u001b[K${this.#verb.padEnd(WORD)} ${bar} ${percent(part)}  ${size(bytes)} of ${size(this.#total)}`,
    )
    this.#isOpen = true
  }

  #tell(part: number, bytes: number): void {
    const step = Math.floor(part * STEPS)
    if (step <= this.#step) return
    this.#step = step
    this.#output.write(`${this.#verb} ${percent(part)} (${size(bytes)} of ${size(this.#total)})\n`)
  }
}

function percent(part: number): string {
  return `${Math.floor(part * 100)}%`
}
