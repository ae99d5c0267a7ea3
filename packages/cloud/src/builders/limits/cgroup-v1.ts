import { access, constants, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BuildLimits } from '../builder.ts'
import { type Cage, type CageMaker, cageName, enterByFiles } from './cage.ts'
import { counter, pidsIn, removeGroup, watchMemory } from './cgroup-files.ts'
import { killAll } from './processes.ts'

/** Control groups of version 1: one below that of this process, so that its own limits go on to hold. */
export class CgroupV1 implements CageMaker {
  readonly name = 'cgroup v1'
  readonly #memory: string
  readonly #pids: string

  private constructor(memory: string, pids: string) {
    this.#memory = memory
    this.#pids = pids
  }

  /** Takes the groups that this process is in; or says why that is not possible. */
  static async find(place: {
    readonly mount: string
    readonly membership: string
  }): Promise<CgroupV1 | { readonly unavailable: string }> {
    const folders = ['memory', 'pids'].map((name) => {
      const own = new RegExp(`^\\d+:(?:[^:]*,)?${name}(?:,[^:]*)?:(/.*)$`, 'm').exec(place.membership)?.[1]
      return own === undefined ? undefined : join(place.mount, name, own)
    })
    const [memory, pids] = folders
    if (memory === undefined || pids === undefined) return { unavailable: 'cgroup v1 is not mounted' }
    try {
      await access(join(memory, 'memory.limit_in_bytes'))
      await access(memory, constants.W_OK)
      await access(pids, constants.W_OK)
      return new CgroupV1(memory, pids)
    } catch (error) {
      return { unavailable: `cgroup v1 is not writable (${(error as Error).message})` }
    }
  }

  async open(buildId: string, limits: BuildLimits): Promise<Cage> {
    const memory = join(this.#memory, cageName(buildId))
    const pids = join(this.#pids, cageName(buildId))
    await this.cleanUp(buildId)
    const close = async (): Promise<void> => {
      await removeGroup(memory)
      await removeGroup(pids)
    }
    try {
      await mkdir(memory)
      await mkdir(pids)
      await writeFile(join(memory, 'memory.limit_in_bytes'), String(limits.memoryBytes))
      // Only where the kernel counts swap.
      await writeFile(join(memory, 'memory.memsw.limit_in_bytes'), String(limits.memoryBytes)).catch(
        () => undefined,
      )
      await writeFile(join(pids, 'pids.max'), String(limits.processes))
    } catch (error) {
      await close()
      throw error
    }
    const outOfMemory = async () => (await counter(join(memory, 'memory.oom_control'), 'oom_kill')) > 0
    return {
      enter: (argv) => enterByFiles([join(memory, 'cgroup.procs'), join(pids, 'cgroup.procs')], argv),
      outOfMemory,
      watch: (_pid, exceeded) => watchMemory(outOfMemory, exceeded),
      kill: async () => {
        await killAll(() => pidsIn(pids))
        await killAll(() => pidsIn(memory))
      },
      close,
    }
  }

  async cleanUp(buildId: string): Promise<void> {
    await removeGroup(join(this.#memory, cageName(buildId)))
    await removeGroup(join(this.#pids, cageName(buildId)))
  }
}
