import type { Command } from './command.ts'

/** A command as the list of commands knows it; its module is loaded only when it is called. */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

/** Every command. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'init',
    summary: 'Make a new bot project',
    load: async () => (await import('./init/command.ts')).initCommand,
  },
  {
    name: 'run',
    summary: 'Run a bot on this machine and talk to it',
    load: async () => (await import('./run/command.ts')).runCommand,
  },
  {
    name: 'call',
    summary: 'Call a bot as a phone carrier would, without a phone',
    load: async () => (await import('./call/command.ts')).callCommand,
  },
  {
    name: 'doctor',
    summary: 'Check a project, and say how to mend it',
    load: async () => (await import('./doctor/command.ts')).doctorCommand,
  },
]
