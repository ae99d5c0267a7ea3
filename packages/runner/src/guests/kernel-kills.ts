import { readFileSync } from 'node:fs'
import { posix } from 'node:path'

/** What the kernel says of the control groups of a process. */
export interface ControlGroups {
  /** As `/proc/self/cgroup`. */
  readonly membership: string
  /** As `/proc/self/mountinfo`. */
  readonly mounts: string
}

const LOOK_MS = 1000
/** Whoever was ended is noticed sooner than this. */
const CLAIMED_MS = 5000

/** Knows of processes that the kernel has ended because the memory of the runner's control group was used up. */
export class KernelKills {
  readonly #file: string | undefined
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout | undefined
  /** Those that were there before, were claimed since, or were none of ours. */
  #known: number
  #seen: number
  /** How many there were in all when there were new ones, as long as those can be claimed. */
  readonly #recent: { readonly count: number; readonly at: number }[] = []

  private constructor(file: string | undefined, now: () => number) {
    this.#file = file
    this.#now = now
    this.#known = this.#count()
    this.#seen = this.#known
    if (file !== undefined) this.#timer = setInterval(() => this.look(), LOOK_MS).unref()
  }

  /** Takes the group that this process is in. Where there is none, nothing is ever said to be the kernel's doing. */
  static find(groups: ControlGroups = ownGroups(), now: () => number = () => performance.now()): KernelKills {
    return new KernelKills(countFile(groups), now)
  }

  /** Sees whether the kernel has ended more. What nobody claims in time was something else, such as a program that a bot has started. */
  look(): void {
    const count = this.#count()
    const now = this.#now()
    if (count > this.#seen) {
      this.#seen = count
      this.#recent.push({ count, at: now })
    }
    const old = this.#recent.filter(({ at }) => now - at > CLAIMED_MS)
    this.#recent.splice(0, old.length)
    this.#known = Math.max(this.#known, old.at(-1)?.count ?? 0)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /**
   * Whether one of them can be the process that has just been killed, by none of us. Each counts for one process only, so that a later one
   * which somebody else has killed is not taken for another. The kernel counts before it kills.
   */
  claim(): boolean {
    this.look()
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
