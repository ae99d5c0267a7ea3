import { access, constants, mkdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Cage, type CageLimits, type CageMaker, cageName, enterByFiles } from './cage.ts'
import { counter, pidsIn, removeGroup, watchMemory } from './cgroup-files.ts'
import { familyOf, killAll, processTable } from './processes.ts'

const CONTROLLERS = ['memory', 'pids']
const PERIOD_US = 100_000
const SELF = 'botcli-self'

/** Where the control groups of version 2 are, and who asks. */
export interface CgroupV2Place {
  readonly mount: string
  /** As `/proc/self/cgroup`. */
  readonly membership: string
  readonly pid: number
}

/** Control groups of version 2, in a group that was given to us to divide. */
export class CgroupV2 implements CageMaker {
  readonly name = 'cgroup v2'
  readonly #folder: string

  private constructor(folder: string) {
    this.#folder = folder
  }

  /** Takes the group that this process is in; or says why it cannot be divided. */
  static async find(place: CgroupV2Place): Promise<CgroupV2 | { readonly unavailable: string }> {
    const own = /^0::(\/.*)$/m.exec(place.membership)?.[1]
    if (own === undefined) return { unavailable: 'cgroup v2 is not mounted' }
    const folder = join(place.mount, own.endsWith(`/${SELF}`) ? own.slice(0, -SELF.length - 1) : own)
    const offered = (await readFile(join(folder, 'cgroup.controllers'), 'utf8').catch(() => ''))
      .trim()
      .split(/\s+/)
    const missing = CONTROLLERS.filter((name) => !offered.includes(name))
    if (missing.length > 0)
      return { unavailable: `cgroup v2 has no controller for ${missing.join(' and ')} here` }
    try {
      await access(folder, constants.W_OK)
      await divide(folder, place.pid)
      const probe = join(folder, cageName('probe'))
      await mkdir(probe, { recursive: true })
      await access(join(probe, 'memory.max'), constants.W_OK).finally(() => rmdir(probe))
      return new CgroupV2(folder)
    } catch (error) {
      return { unavailable: `cgroup v2 is not delegated to this process (${(error as Error).message})` }
    }
  }

  async open(id: string, limits: CageLimits): Promise<Cage> {
    const folder = join(this.#folder, cageName(id))
    await removeGroup(folder)
    await mkdir(folder)
    await writeFile(join(folder, 'memory.max'), String(limits.memoryBytes))
    await writeFile(join(folder, 'memory.swap.max'), '0').catch(() => undefined)
    await writeFile(join(folder, 'pids.max'), String(limits.processes))
    if (limits.cpus !== undefined) await limitCpus(folder, limits.cpus)
    return this.find(id)
  }

  find(id: string): Cage {
    const folder = join(this.#folder, cageName(id))
    const outOfMemory = async () => (await counter(join(folder, 'memory.events'), 'oom_kill')) > 0
    return {
      enter: (command) => enterByFiles([join(folder, 'cgroup.procs')], command),
      outOfMemory,
      watch: (_pid, exceeded) => watchMemory(outOfMemory, exceeded),
      kill: async () => await killAll(() => pidsIn(folder)),
      close: async () => await removeGroup(folder),
    }
  }

  async cleanUp(id: string): Promise<void> {
    await removeGroup(join(this.#folder, cageName(id)))
  }
}

/** A group that has processes cannot be divided, so ours move into one of their own; those of others are not moved. */
async function divide(folder: string, pid: number): Promise<void> {
  const enable = CONTROLLERS.map((name) => `+${name}`).join(' ')
  const control = join(folder, 'cgroup.subtree_control')
  const inside = await pidsIn(folder)
  if (inside.length > 0) {
    const ours = new Set(familyOf(await processTable(), new Set([pid])).map((row) => row.pid))
    if (inside.some((other) => other !== pid && !ours.has(other))) throw new Error('others are in its group')
    await mkdir(join(folder, SELF), { recursive: true })
    for (const own of inside) await writeFile(join(folder, SELF, 'cgroup.procs'), String(own))
  }
  // It may not be ours to give; builds do without it, and instances are the better for it.
  await writeFile(control, '+cpu').catch(() => undefined)
  await writeFile(control, enable)
}

/** Only where the controller was given to us. */
async function limitCpus(folder: string, cpus: number): Promise<void> {
  await writeFile(join(folder, 'cpu.max'), `${Math.ceil(cpus * PERIOD_US)} ${PERIOD_US}`).catch(
    () => undefined,
  )
}
