import { StringDecoder } from 'node:string_decoder'
import { stripVTControlCharacters } from 'node:util'
import type { BuildOutput } from '../builder.ts'

const MAX_LINES = 400
const MAX_LINE = 4096

/** Passes output on and remembers its last lines, so that a failure can be told from them. */
export class OutputTail implements BuildOutput {
  readonly #output: BuildOutput
  readonly #decoder = new StringDecoder('utf8')
  readonly #lines: string[] = []
  #partial = ''

  constructor(output: BuildOutput) {
    this.#output = output
  }

  /** Without colours and without empty lines. */
  get lines(): readonly string[] {
    return [...this.#lines, this.#partial].map(clean).filter((line) => line !== '')
  }

  write(bytes: Uint8Array | string): void {
    this.#output.write(bytes)
    const text =
      typeof bytes === 'string'
        ? bytes
        : this.#decoder.write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
    const lines = `${this.#partial}${text}`.split('\n')
    this.#partial = (lines.pop() ?? '').slice(-MAX_LINE)
    this.#lines.push(...lines.slice(-MAX_LINES).map((line) => line.slice(0, MAX_LINE)))
    this.#lines.splice(0, Math.max(0, this.#lines.length - MAX_LINES))
  }

  /** A line of our own is no output of the build. */
  say(line: string): void {
    this.#output.say(line)
  }

  /** Forgets what was said, as the next command begins. */
  clear(): void {
    this.#lines.length = 0
    this.#partial = ''
  }
}

function clean(line: string): string {
  const text = stripVTControlCharacters(line).trimEnd()
  return text.slice(text.lastIndexOf('\r') + 1).trimEnd()
}
