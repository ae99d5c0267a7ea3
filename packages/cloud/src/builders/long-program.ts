import { spawn as nodeSpawn } from 'node:child_process'
import type { Answer } from './ask-program.ts'
import { kill } from './limits/processes.ts'
import { spawnAlone } from './limits/spawn-alone.ts'

/** How a program is run that may take long. */
export interface LongProgramOptions {
  readonly timeoutMs: number
  /** Beside what this process has. */
  readonly env: Readonly<Record<string, string>>
  /** Aborted when nobody wants its answer any more. */
  readonly signal: AbortSignal
  readonly spawn?: typeof nodeSpawn
}

/** What is kept of its output: complaints come last. */
const MAX_CHARS = 64 * 1024
/** How long the kernel may take to end what was killed. */
const KILLED_MS = 3000

/**
 * Runs a program of this machine that may take long, for its answer. If it takes too long or is not wanted any more, it is killed with
 * whatever it has started, and there is no answer before it is gone.
 */
export async function runLongProgram(argv: readonly string[], options: LongProgramOptions): Promise<Answer> {
  const { timeoutMs, env, signal, spawn = nodeSpawn } = options
  if (signal.aborted) return { status: undefined, stdout: '', stderr: 'It is not wanted any more.' }
  const child = spawnAlone(spawn, argv, {
    env: { ...process.env, ...env },
    // A group of its own, which can be killed as a whole.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout = `${stdout}${text}`.slice(-MAX_CHARS)
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr = `${stderr}${text}`.slice(-MAX_CHARS)
  })
  const timers: NodeJS.Timeout[] = []
  let cancel = (): void => {}
  return await new Promise<Answer>((resolve) => {
    const end = (status: number | undefined, why = ''): void =>
      resolve({ status, stdout, stderr: stderr || why })
    const stop = (why: string): void => {
      if (child.pid === undefined) return
      kill(-child.pid)
      // Its output may be held open by somebody who has left the group.
      child.once('exit', () => end(undefined, why))
      timers.push(setTimeout(() => end(undefined, why), KILLED_MS))
    }
    cancel = () => stop('It is not wanted any more.')
    signal.addEventListener('abort', cancel, { once: true })
    timers.push(setTimeout(() => stop(`It took longer than ${timeoutMs / 1000} seconds.`), timeoutMs))
    child.once('error', ({ message }) => end(undefined, message))
    child.once('close', (code) => end(code ?? undefined))
  }).finally(() => {
    signal.removeEventListener('abort', cancel)
    for (const timer of timers) clearTimeout(timer)
    child.stdout?.destroy()
    child.stderr?.destroy()
    child.unref()
  })
}
