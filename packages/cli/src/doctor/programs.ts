import { type ChildProcess, type SpawnOptions, spawn as spawnProcess } from 'node:child_process'

const LIMIT_MS = 10_000
const MAX_TEXT = 64 * 1024

/** How a program ended, or why it did not. */
export type ProgramAnswer =
  | { readonly kind: 'ended'; readonly code: number | null; readonly stdout: string; readonly stderr: string }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unusable'; readonly reason: string }
  | { readonly kind: 'late'; readonly seconds: number }

/** What starts a process. */
export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcess

/** What programs are run with. */
export interface ProgramsOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Ends every program. */
  readonly signal: AbortSignal
  readonly spawn?: Spawn
  readonly limitMs?: number
}

/** Runs programs of this machine, each for a short time. */
export class Programs {
  readonly #options: ProgramsOptions

  constructor(options: ProgramsOptions) {
    this.#options = options
  }

  /** Runs a program in a folder. It never rejects. */
  run(file: string, args: readonly string[], cwd: string): Promise<ProgramAnswer> {
    const { env, signal, spawn = spawnProcess, limitMs = LIMIT_MS } = this.#options
    const late = { kind: 'late', seconds: limitMs / 1000 } as const
    if (signal.aborted) return Promise.resolve(late)
    return new Promise((resolve) => {
      const child = attempt(() =>
        // A group of its own, because a wrapper may have started the real program.
        spawn(file, args, { cwd, env: { ...env }, stdio: ['ignore', 'pipe', 'pipe'], detached: true }),
      )
      if (child instanceof Error) {
        resolve({ kind: 'unusable', reason: child.message })
        return
      }
      const stdout = collect(child.stdout)
      const stderr = collect(child.stderr)
      const end = (answer: ProgramAnswer) => {
        clearTimeout(timer)
        signal.removeEventListener('abort', stop)
        resolve(answer)
      }
      const stop = () => {
        killGroup(child)
        end(late)
      }
      const timer = setTimeout(stop, limitMs)
      signal.addEventListener('abort', stop)
      child.on('error', (error: NodeJS.ErrnoException) =>
        end(error.code === 'ENOENT' ? { kind: 'absent' } : { kind: 'unusable', reason: error.message }),
      )
      child.on('close', (code) => end({ kind: 'ended', code, stdout: stdout(), stderr: stderr() }))
    })
  }
}

/** The last line that a program wrote, which is where most say what is wrong. */
export function lastLine(text: string): string {
  return text.trim().split('\n').at(-1)?.trim() ?? ''
}

/** Some failures to start a process are thrown, others are events of it. */
function attempt(start: () => ChildProcess): ChildProcess | Error {
  try {
    return start()
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function collect(stream: ChildProcess['stdout']): () => string {
  let text = ''
  stream?.setEncoding('utf8').on('data', (part: string) => {
    // What is asked for comes last.
    text = (text + part).slice(-MAX_TEXT)
  })
  return () => text
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has just ended.
  }
  child.stdout?.destroy()
  child.stderr?.destroy()
}
