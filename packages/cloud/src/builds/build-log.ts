import type { BuildOutput } from '../builders/builder.ts'
import { LineCleaner } from '../logs/line-cleaner.ts'
import type { LogStore, LogWriter } from '../logs/log-store.ts'
import { parseLines } from '../logs/log-text.ts'
import type { RedactionTable } from '../logs/redaction-table.ts'
import { Redactor } from '../logs/redactor.ts'
import type { BuildEnd } from '../store/store.ts'

/** Takes the output of one build: bytes become clean lines, lose their secrets, and are appended to the log. */
export class BuildLog implements BuildOutput {
  readonly #logs: LogStore
  readonly #buildId: string
  readonly #writer: LogWriter
  readonly #secrets: RedactionTable
  readonly #cleaner = new LineCleaner()
  readonly #broken = new AbortController()
  #redactor: Redactor
  #isOpen = true

  private constructor(logs: LogStore, buildId: string, writer: LogWriter, secrets: RedactionTable) {
    this.#logs = logs
    this.#buildId = buildId
    this.#writer = writer
    this.#secrets = secrets
    this.#redactor = new Redactor(secrets)
  }

  /** Opens the log of a build. */
  static async open(logs: LogStore, buildId: string, secrets: RedactionTable): Promise<BuildLog> {
    return new BuildLog(logs, buildId, await logs.openWriter(buildId), secrets)
  }

  /** Aborted, with the reason, when lines were lost because they could not be written. */
  get broken(): AbortSignal {
    return this.#broken.signal
  }

  write(bytes: Uint8Array | string): void {
    // A builder that was given up may still talk.
    if (this.#isOpen) this.#take(() => this.#cleaner.write(bytes))
  }

  say(line: string): void {
    if (!this.#isOpen) return
    this.#take(() => [...this.#cleaner.end(), ...this.#cleaner.write(line), ...this.#cleaner.end()])
  }

  /** Everything that was said so far is in the log and durable when this resolves. */
  async settle(): Promise<void> {
    this.#append([...this.#redactor.push(this.#cleaner.end()), ...this.#redactor.close()])
    this.#redactor = new Redactor(this.#secrets)
    await this.#writer.flush()
  }

  /** Says the last lines, but not those of them that are the last ones already, and takes no more. */
  async conclude(lines: readonly string[]): Promise<void> {
    const last = await this.#tail(lines.length)
    const counts = lines.map((_, index) => lines.length - index)
    const isThere = (count: number): boolean =>
      lines.slice(0, count).every((line, index) => line === last.at(index - count))
    const known = counts.find(isThere) ?? 0
    for (const line of lines.slice(known)) this.say(line)
    this.#isOpen = false
    this.#broken.signal.throwIfAborted()
    await this.settle()
  }

  async seal(): Promise<void> {
    await this.#writer.seal()
  }

  /** Lets go of the log, sealed or not. */
  async close(): Promise<void> {
    this.#isOpen = false
    await this.#writer.close()
  }

  /** The same end without secrets: builders quote what they ran. */
  redactEnd(end: BuildEnd): BuildEnd {
    const { errorMessage, failure } = end
    const clean = (text: string): string => {
      const redactor = new Redactor(this.#secrets)
      return [...redactor.push(text.split('\n')), ...redactor.close()].join('\n')
    }
    return {
      ...end,
      errorMessage: errorMessage === null ? null : clean(errorMessage),
      failure: failure && {
        ...failure,
        step: failure.step === null ? null : clean(failure.step),
        hint: clean(failure.hint),
      },
    }
  }

  async #tail(count: number): Promise<readonly string[]> {
    const page = await this.#logs.tail(this.#buildId, count)
    const body = Buffer.alloc(page.bytes)
    await page.copyTo(body)
    return parseLines(body)
  }

  /** Builders talk from within their streams, where nobody would catch what is thrown. */
  #take(lines: () => readonly string[]): void {
    try {
      this.#append(this.#redactor.push(lines()))
    } catch (error) {
      this.#isOpen = false
      this.#broken.abort(error)
    }
  }

  #append(lines: readonly string[]): void {
    if (lines.length > 0) this.#writer.append(lines)
  }
}
