import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const PROGRAM = fileURLToPath(new URL('./pseudo_terminal.py', import.meta.url))
const LIMIT_MS = 45_000

/** Keys as a terminal sends them. */
export const KEYS = {
  enter: '\r',
  esc: '\u001B',
  interrupt: '\u0003',
  space: ' ',
  down: '\u001B[B',
  up: '\u001B[A',
} as const

/** A command on a terminal, with somebody who reads the screen and types. */
export class PseudoTerminal {
  readonly #child: ReturnType<typeof spawn>
  readonly #closed: Promise<number | null>
  readonly #waiting = new Set<() => void>()
  #screen = ''
  #read = 0
  #pid: number | undefined
  #over = false

  constructor(argv: readonly string[], cwd: string, env: Readonly<Record<string, string>> = {}) {
    this.#child = spawn('python3', ['-u', PROGRAM, ...argv], {
      cwd,
      env: { PATH: process.env.PATH ?? '', TERM: 'xterm-256color', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#screen += text
      this.#look()
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#pid = Number.parseInt(text, 10)
    })
    this.#child.stdin?.on('error', () => {})
    this.#closed = new Promise((resolve) => {
      this.#child.on('close', (code) => {
        this.#over = true
        this.#look()
        resolve(code)
      })
    })
  }

  /** Everything that was ever on the screen, without colours and movements. */
  get screen(): string {
    return stripVTControlCharacters(this.#screen)
  }

  /** The exit code of the command. */
  get ended(): Promise<number | null> {
    return this.#closed
  }

  /** Waits for a question to come up. */
  async seeQuestion(question: string): Promise<void> {
    await this.see(`◆  ${question}`)
  }

  /** Waits for a text to come up that was not waited for before. */
  async see(text: string): Promise<void> {
    const deadline = Date.now() + LIMIT_MS
    for (;;) {
      const at = this.screen.indexOf(text, this.#read)
      if (at >= 0) {
        this.#read = at + text.length
        return
      }
      if (this.#over || Date.now() > deadline) throw new Error(`"${text}" did not come:\n${this.screen}`)
      await this.#change()
    }
  }

  type(...keys: readonly string[]): void {
    this.#child.stdin?.write(keys.join(''))
  }

  /** Sends a signal to the command. */
  signal(signal: NodeJS.Signals): void {
    if (this.#pid !== undefined) process.kill(this.#pid, signal)
  }

  /** Takes the terminal away. */
  hangUp(): void {
    this.#child.stdin?.end()
  }

  close(): void {
    if (!this.#over) this.signal('SIGKILL')
    this.#child.kill('SIGKILL')
  }

  #look(): void {
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, 1000)
      this.#waiting.add(() => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
}
