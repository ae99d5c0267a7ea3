import type { ChildProcess, spawn as nodeSpawn, SpawnOptions } from 'node:child_process'
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** How a child is spawned: with its descriptors one by one. */
export interface SpawnAloneOptions extends Omit<SpawnOptions, 'stdio'> {
  readonly stdio: readonly ('ignore' | 'pipe' | number)[]
}

const LAST_OF_STDIO = 2
const CLOSE_ON_EXEC = 0o2000000

/**
 * Spawns a process that gets no descriptor but those it is given. Others that this process was started with would reach it: Node marks
 * only the first few of them as its own. Each of those leads to nowhere in the child.
 */
export function spawnAlone(
  spawn: typeof nodeSpawn,
  [file = '', ...args]: readonly string[],
  options: SpawnAloneOptions,
): ChildProcess {
  const inherited = inheritedDescriptors().filter((descriptor) => descriptor >= options.stdio.length)
  const stdio = [...options.stdio]
  if (inherited.length === 0) return spawn(file, args, { ...options, stdio })
  const nowhere = openSync('/dev/null', 'r+')
  try {
    for (const descriptor of inherited) {
      // What is ignored above stdio is not touched at all.
      while (stdio.length < descriptor) stdio.push('ignore')
      stdio[descriptor] = nowhere
    }
    return spawn(file, args, { ...options, stdio })
  } finally {
    closeSync(nowhere)
  }
}

let known: readonly number[] | undefined

/** Those that a child would inherit, in order; none where the system does not say. Whatever we open ourselves is closed in children. */
function inheritedDescriptors(): readonly number[] {
  known ??= openDescriptors().filter((descriptor) => descriptor > LAST_OF_STDIO && isPassedOn(descriptor))
  return known
}

function openDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd')
      .map(Number)
      .toSorted((a, b) => a - b)
  } catch {
    return []
  }
}

function isPassedOn(descriptor: number): boolean {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1')
    const flags = /^flags:\s*([0-7]+)$/m.exec(text)?.[1]
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0
  } catch {
    // It was the one that the list was read with.
    return false
  }
}
