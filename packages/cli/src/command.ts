import type { Io } from './io.ts'

/** What a command's module exports. */
export interface Command {
  /** Does the work and gives the exit code. */
  run(argv: readonly string[], io: Io): Promise<number>
}
