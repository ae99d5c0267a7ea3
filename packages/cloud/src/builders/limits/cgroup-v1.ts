import { access, constants, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cage, type CageLimits, type CageMaker, cageName, enterByFiles } from './cage.ts'
import { counter, pidsIn, removeGroup, watchMemory } from './cgroup-files.ts'
import { killAll } from './processes.ts'

const PERIOD_US = 100_000

/** Control groups of version 1: one below that of this process, so that its own limits go on to hold. */
export class CgroupV1 implements CageMaker {
  readonly name = 'cgroup v1'
  readonly #memory: string
  readonly #pids: string
  readonly #cpu: string | undefined

  private constructor(memory: string, pids: string, cpu: string | undefined) {
    this.#memory = memory
    this.#pids = pids
    this.#cpu = cpu
  }

  /** Takes the groups that this process is in; or says why that is not possible. */
  static async find(place: {
    readonly mount: string
    readonly membership: string
  }): Promise<CgroupV1 | { readonly unavailable: string }> {
    const folders = ['memory', 'pids', 'cpu'].map((name) => {
      const own = new RegExp(`^\\d+:(?:[^:]*,)?${name}(?:,[^:]*)?:(/.*)$`, 'm').exec(place.membership)?.[1]
      return own === undefined ? undefined : join(place.mount, name, own)
    })
    const [memory, pids, cpu] = folders
    if (memory === undefined || pids === undefined) return { unavailable: 'cgroup v1 is not mounted' }
    try {
      await access(join(memory, 'memory.limit_in_bytes'))
      await access(memory, constants.W_OK)
      await access(pids, constants.W_OK)
      return new CgroupV1(memory, pids, cpu)
    } catch (error) {
      return { unavailable: `cgroup v1 is not writable (${(error as Error).message})` }
    }
  }

  async open(id: string, limits: CageLimits): Promise<Cage> {
    const memory = join(this.#memory, cageName(id))
    const pids = join(this.#pids, cageName(id))
    await this.cleanUp(id)
    try {
      await mkdir(memory)
      await mkdir(pids)
      await writeFile(join(memory, 'memory.limit_in_bytes'), String(limits.memoryBytes))
      // Only where the kernel counts swap.
      await writeFile(join(memory, 'memory.memsw.limit_in_bytes'), String(limits.memoryBytes)).catch(
        () => undefined,
      )
      await writeFile(join(pids, 'pids.max'), String(limits.processes))
      const cpu = limits.cpus === undefined ? undefined : await this.#limitCpus(id, limits.cpus)
      return this.#cage(id, cpu === undefined ? [memory, pids] : [memory, pids, cpu])
    } catch (error) {
      await this.cleanUp(id)
      throw error
    }
  }

  find(id: string): Cage {
    return this.#cage(id, [])
  }

  /** Gives the group that limits them, where one can be made. */
  async #limitCpus(id: string, cpus: number): Promise<string | undefined> {
    if (this.#cpu === undefined) return undefined
    const folder = join(this.#cpu, cageName(id))
    try {
      await mkdir(folder)
      await writeFile(join(folder, 'cpu.cfs_period_us'), String(PERIOD_US))
      await writeFile(join(folder, 'cpu.cfs_quota_us'), String(Math.ceil(cpus * PERIOD_US)))
      return folder
    } catch {
      return undefined
    }
  }

  #cage(id: string, entered: readonly string[]): Cage {
    const memory = join(this.#memory, cageName(id))
    const pids = join(this.#pids, cageName(id))
    const outOfMemory = async () => (await counter(join(memory, 'memory.oom_control'), 'oom_kill')) > 0
    return {
      enter: (command) =>
        enterByFiles(
          entered.map((folder) => join(folder, 'cgroup.procs')),
          command,
        ),
      outOfMemory,
      watch: (_pid, exceeded) => watchMemory(outOfMemory, exceeded),
      kill: async () => {
        await killAll(() => pidsIn(pids))
        await killAll(() => pidsIn(memory))
      },
      close: async () => await this.cleanUp(id),
    }
  }

  async cleanUp(id: string): Promise<void> {
    await removeGroup(join(this.#memory, cageName(id)))
    await removeGroup(join(this.#pids, cageName(id)))
    if (this.#cpu !== undefined) await removeGroup(join(this.#cpu, cageName(id)))
  }
}
