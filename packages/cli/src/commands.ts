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
  {
    name: 'cloud',
    summary: 'Run a cloud on this machine',
    load: async () => (await import('./cloud/command.ts')).cloudCommand,
  },
  {
    name: 'login',
    summary: 'Sign in to a cloud',
    load: async () => (await import('./login/command.ts')).loginCommand,
  },
  {
    name: 'logout',
    summary: 'Forget the key of the cloud that you are signed in to',
    load: async () => (await import('./login/logout.ts')).logoutCommand,
  },
  {
    name: 'deploy',
    summary: 'Build a bot, run it in the cloud, and show how it goes',
    load: async () => (await import('./deploy/command.ts')).deployCommand,
  },
  {
    name: 'agent',
    summary: 'See and change the bots that run in a cloud',
    load: async () => (await import('./agent/command.ts')).agentCommand,
  },
  {
    name: 'session',
    summary: 'Start, see and end sessions with them',
    load: async () => (await import('./session/command.ts')).sessionCommand,
  },
  {
    name: 'build',
    summary: 'Build bots in a cloud',
    load: async () => (await import('./build/command.ts')).buildCommand,
  },
  {
    name: 'secrets',
    summary: 'Keep the keys of bots in a cloud',
    load: async () => (await import('./secrets/command.ts')).secretsCommand,
  },
  {
    name: 'keys',
    summary: 'Manage the keys of a cloud',
    load: async () => (await import('./keys/command.ts')).keysCommand,
  },
]
