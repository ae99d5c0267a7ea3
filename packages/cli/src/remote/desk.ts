import type { Interrupt } from '../interrupt.ts'
import type { Io } from '../io.ts'
import { type Paint, paintFor } from '../paint.ts'
import { CloudClient } from './cloud-client.ts'
import { readCredentials } from './credentials.ts'

/** What an action works with: where it reads and writes, and its way to the cloud. */
export class Desk {
  readonly io: Io
  /** Whether a program reads what is printed. */
  readonly json: boolean
  readonly interrupt: Interrupt
  readonly paint: Paint
  readonly #name: string

  constructor(
    io: Io,
    {
      json,
      interrupt,
      name,
    }: { readonly json: boolean; readonly interrupt: Interrupt; readonly name: string },
  ) {
    this.io = io
    this.json = json
    this.interrupt = interrupt
    this.paint = paintFor(io.stdout.isTTY === true && !io.env.NO_COLOR)
    this.#name = name
  }

  get signal(): AbortSignal {
    return this.interrupt.signal
  }

  /** The cloud that the user is signed in to. */
  async connect(): Promise<CloudClient> {
    return new CloudClient({ ...(await readCredentials(this.io.env)), signal: this.signal })
  }

  /** Lines for people; programs do not get them. */
  say(...lines: readonly string[]): void {
    if (!this.json) for (const line of lines) this.io.stdout.write(`${printable(line)}\n`)
  }

  /** A remark beside the result. */
  note(text: string): void {
    for (const line of text.split('\n')) this.io.stderr.write(`${printable(line)}\n`)
  }

  /** The result for programs. People do not get it. */
  print(value: unknown): void {
    if (this.json) this.io.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
  }

  /** One of several results for programs, on a line of its own. */
  emit(type: string, fields: object): void {
    if (this.json) this.io.stdout.write(`${JSON.stringify({ type, ...fields })}\n`)
  }

  /** Tells why it was not done. */
  fail(code: string, message: string): void {
    if (this.json) this.io.stdout.write(`${JSON.stringify({ error: message, code })}\n`)
    else this.note(`botcli ${this.#name}: ${message}`)
  }
}

/** What a cloud says may steer a terminal. Colours are ours. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replaceAll(/(?!\u001b\[\d{1,2}m)[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, ' ')
}
