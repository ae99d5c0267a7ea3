import type { Interrupt } from '../interrupt.ts'
import type { Io, Output } from '../io.ts'
import { type Paint, paintFor } from '../paint.ts'
import { CloudClient } from './cloud-client.ts'
import { readCredentials } from './credentials.ts'
import { flushed } from './flush.ts'

/** What an action works with: where it reads and writes, and its way to the cloud. */
export class Desk {
  readonly io: Io
  /** Whether a program reads what is printed. */
  readonly json: boolean
  readonly interrupt: Interrupt
  readonly paint: Paint
  /** For remarks, which may go elsewhere than the result. */
  readonly notePaint: Paint
  readonly #name: string
  #url: string | undefined
  #isPressTold = false
  readonly #gone = new AbortController()

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
    this.paint = paintOn(io.stdout, io)
    this.notePaint = paintOn(io.stderr, io)
    this.#name = name
    io.stdout.on('error', () => this.#gone.abort())
  }

  /** Aborted when who reads the result has left, as `head` does. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** Waits until what was printed has been taken, but for so many bytes. */
  flushed(limit = 0): Promise<void> {
    return flushed(this.io.stdout, { gone: this.gone, leaving: this.signal }, limit)
  }

  get signal(): AbortSignal {
    return this.interrupt.signal
  }

  /** The address of that cloud, once it was asked for. */
  get url(): string | undefined {
    return this.#url
  }

  /** The cloud that the user is signed in to. */
  async connect(): Promise<CloudClient> {
    const credentials = await readCredentials(this.io.env)
    this.#url = credentials.url
    return new CloudClient({ ...credentials, signal: this.signal })
  }

  /** Lines for people; programs do not get them. */
  say(...lines: readonly string[]): void {
    if (!this.json) for (const line of lines) this.io.stdout.write(`${printable(line)}\n`)
  }

  /** A remark beside the result. */
  note(text: string): void {
    const { stderr } = this.io
    // A terminal has written ^C where this goes.
    const isAfterPress = this.signal.aborted && !this.#isPressTold && stderr.isTTY === true
    if (isAfterPress) stderr.write('\r\u001b[K')
    this.#isPressTold ||= this.signal.aborted
    for (const line of text.split('\n')) stderr.write(`${printable(line)}\n`)
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
    else this.note(`botcli ${this.#name}: ${message.split('\n').map(plain).join('\n')}`)
  }

  /** Tells what is wrong with the command line, or with a file that it names. */
  refuse(problems: readonly string[]): void {
    const [first = '', ...others] = problems
    const list = others.length === 0 ? first : ['', ...problems.map((one) => `  - ${one}`)].join('\n')
    if (this.json) this.fail('USAGE', problems.join('\n'))
    else this.note(`botcli ${this.#name}: ${list}\nSee "botcli ${this.#name} --help".`)
  }
}

function paintOn({ isTTY }: Output, { env }: Io): Paint {
  return paintFor(isTTY === true && !env.NO_COLOR && env.TERM !== 'dumb')
}

/** A text without anything that steers a terminal, such as the name of a file. */
export function plain(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ')
}

/** What a cloud says may steer a terminal. Colours are ours. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replaceAll(/(?!\u001b\[\d{1,2}m)[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g, ' ')
}
