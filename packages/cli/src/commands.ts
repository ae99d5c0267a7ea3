import type { Io } from './io.ts'

/** What a command's module exports. */
export interface Command {
  /** Does the work and gives the exit code. */
  run(argv: readonly string[], io: Io): Promise<number>
}

/** A command as the list of commands knows it; its module is loaded only when it is called. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

/** Every command. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'Run a bot on this machine and talk to it',
    load: async () => (await import('./run/command.ts')).runCommand,
  },
]
