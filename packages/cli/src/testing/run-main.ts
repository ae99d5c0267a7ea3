import { EventEmitter } from 'node:events'
import type { Io } from '../io.ts'
import { main } from '../main.ts'

/** What a command came to. */
export interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command in this process, without a terminal. */
export async function runMain(argv: readonly string[], cwd: string): Promise<Ended> {
  let stdout = ''
  let stderr = ''
  const signals = new EventEmitter()
  const io: Io = {
    stdout: { write: (text) => (stdout += text), on: () => {} },
    stderr: { write: (text) => (stderr += text), on: () => {} },
    env: {},
    cwd: () => cwd,
    on: (signal, listener) => signals.on(signal, listener),
    off: (signal, listener) => signals.off(signal, listener),
    exit: (code) => {
      throw new Error(`exit ${code}`)
    },
  }
  const code = await main(argv, io)
  return { code, stdout, stderr }
}
