import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** What the kernel says of the control groups of a process. */
export interface ControlGroups {
  /** As `/proc/self/cgroup`. */
  readonly membership: string
  /** As `/proc/self/mountinfo`. */
  readonly mounts: string
}

/** Knows of processes that the kernel has ended because the memory of the runner's control group was used up. */
export class KernelKills {
  readonly #file: string | undefined
  /** Those that were there before, or were claimed since. */
  #known: number

  private constructor(file: string | undefined) {
    this.#file = file
    this.#known = this.#count()
  }

  /** Takes the group that this process is in. Where there is none, nothing is ever said to be the kernel's doing. */
  static find(groups: ControlGroups = ownGroups()): KernelKills {
    return new KernelKills(countFile(groups))
  }

  /**
   * Whether one of them can be the process that has just been killed, by none of us. Each counts for one process only, so that a later one
   * which somebody else has killed is not taken for another. The kernel counts before it kills.
   */
  claim(): boolean {
    if (this.#count() <= this.#known) return false
    this.#known += 1
    return true
  }

  #count(): number {
    if (this.#file === undefined) return 0
    // Both versions have it as a line of its own.
    return Number(/^oom_kill (\d+)$/m.exec(textOf(this.#file))?.[1] ?? 0)
  }
}

function ownGroups(): ControlGroups {
  return { membership: textOf('/proc/self/cgroup'), mounts: textOf('/proc/self/mountinfo') }
}

/** The file in which the kernel counts. Where both versions are mounted, the older one may have the memory. */
function countFile({ membership, mounts }: ControlGroups): string | undefined {
  const older = /^\d+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(\/.*)$/m.exec(membership)?.[1]
  const path = older ?? /^0::(\/.*)$/m.exec(membership)?.[1]
  if (path === undefined) return undefined
  for (const line of mounts.split('\n')) {
    const [place = '', system = ''] = line.split(' - ')
    const [type, , options = ''] = system.split(' ')
    const isIt =
      older === undefined ? type === 'cgroup2' : type === 'cgroup' && options.split(',').includes('memory')
    const [, , , root = '', mount = ''] = place.split(' ').map(unescaped)
    const way = posix.relative(root, path)
    // A container may be shown a part of all groups, and that need not be the one that it is in.
    if (!isIt || way === '..' || way.startsWith('../')) continue
    return posix.join(mount, way, older === undefined ? 'memory.events' : 'memory.oom_control')
  }
  return undefined
}

/** Spaces and the like are written as octal numbers there. */
function unescaped(word: string): string {
  return word.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
