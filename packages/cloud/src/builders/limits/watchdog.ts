import type { Cage, CageLimits, CageMaker } from './cage.ts'
import { familyOf, killAll, killProcessesOf, processTable } from './processes.ts'

const EVERY_MS = 50

/**
 * Without control groups: a look at the table of processes twenty times a second, and a limit on what each process may take. It can
 * be late, and a process that hides from its family is out of sight.
 */
export class Watchdog implements CageMaker {
  readonly name = 'a watchdog'
  readonly #prlimit: boolean

  constructor(options: { readonly prlimit: boolean }) {
    this.#prlimit = options.prlimit
  }

  async open(id: string, limits: CageLimits): Promise<Cage> {
    let exceeded = false
    const known = new Set<number>()
    const kill = async (): Promise<void> => {
      await killAll(async () => familyOf(await processTable(), known).map(({ pid }) => pid))
      await killProcessesOf(id)
      known.clear()
    }
    return {
      // Never the address space: Node reserves far more of it than it uses.
      enter: ({ argv, env }) => ({
        argv: this.#prlimit ? ['prlimit', `--data=${limits.memoryBytes}`, '--', ...argv] : argv,
        env,
      }),
      outOfMemory: async () => exceeded,
      watch: (pid, tell) => {
        known.add(pid)
        let stopped = false
        const look = async (): Promise<void> => {
          const family = familyOf(await processTable(), known)
          if (stopped) return
          known.clear()
          for (const row of family) known.add(row.pid)
          known.add(pid)
          const bytes = family.reduce((sum, { residentBytes }) => sum + residentBytes, 0)
          if (bytes > limits.memoryBytes) exceeded = true
          if (exceeded) tell('memory')
          else if (family.length > limits.processes) tell('processes')
          if (!stopped) timer = setTimeout(look, EVERY_MS)
        }
        let timer = setTimeout(look, EVERY_MS)
        return {
          stop: () => {
            stopped = true
            clearTimeout(timer)
          },
        }
      },
      kill,
      close: kill,
    }
  }

  /** Nothing of it outlives the process that opened it. */
  find(id: string): Cage {
    return {
      enter: (command) => command,
      outOfMemory: async () => false,
      kill: async () => await killProcessesOf(id),
      close: async () => await killProcessesOf(id),
    }
  }

  async cleanUp(id: string): Promise<void> {
    await killProcessesOf(id)
  }
}
