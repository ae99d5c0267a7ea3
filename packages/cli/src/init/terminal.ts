import { Readable, Writable } from 'node:stream'
import type { Io } from '../io.ts'

/** A terminal that questions can be drawn on. */
export interface Terminal {
  readonly input: Readable
  readonly output: Writable
}

/** The terminal of a run, or nothing if there is nobody to ask. */
export function terminalOf({ stdin, stdout, env }: Io): Terminal | undefined {
  if (stdin?.isTTY !== true || stdout.isTTY !== true || env.TERM === 'dumb') return undefined
  const [input, output]: readonly unknown[] = [stdin, stdout]
  return input instanceof Readable && output instanceof Writable ? { input, output } : undefined
}
