import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { vi } from 'vitest'
import type { Io, Keyboard } from '../io.ts'
import { main } from '../main.ts'

/** What surrounds a command: variables, a folder, and what comes in. */
export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  readonly input?: string
}

/** A command that runs in this process, with somebody who reads along and presses keys. */
export class TypedCommand extends EventEmitter implements Io {
  stdoutText = ''
  stderrText = ''
  /** What the command ended at once with. */
  exited: number | undefined
  readonly env: Io['env']
  readonly stdin: Keyboard
  readonly stdout: Io['stdout']
  readonly stderr: Io['stderr']
  readonly ended: Promise<number>
  readonly #cwd: string

  constructor(argv: readonly string[], { env = {}, cwd = '/', input = '' }: Surroundings = {}) {
    super()
    this.env = { HOME: '/nonexistent', ...env }
    this.#cwd = cwd
    this.stdin = Readable.from(input === '' ? [] : [Buffer.from(input)])
    this.stdout = {
      write: (text) => {
        this.stdoutText += text
      },
      on: () => {},
    }
    this.stderr = {
      write: (text) => {
        this.stderrText += text
      },
      on: () => {},
    }
    this.ended = main(argv, this)
  }

  cwd(): string {
    return this.#cwd
  }

  exit(code: number): void {
    this.exited = code
  }

  /** Everything that was printed as JSON, a value a line. */
  get events(): readonly Readonly<Record<string, unknown>>[] {
    return this.stdoutText
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  /** Waits for a text, wherever it is printed. */
  async see(text: string): Promise<void> {
    await vi.waitUntil(() => this.stdoutText.includes(text) || this.stderrText.includes(text), {
      timeout: 20_000,
    })
  }
}

/** Runs a command to its end. */
export async function typed(
  argv: readonly string[],
  surroundings?: Surroundings,
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const command = new TypedCommand(argv, surroundings)
  const code = await command.ended
  return { code, stdout: command.stdoutText, stderr: command.stderrText }
}
