import { createHash, randomBytes } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** A name that no other runner has, and that tells whose it is: prefix, process, machine, chance. */
export function runName(pid: number, prefix = ''): string {
  return `${prefix}${pid}-${machine()}-${randomBytes(4).toString('hex')}`
}

/** Removes the folders of runners that are gone. */
export async function removeStale(root: string, prefix = ''): Promise<void> {
  const pattern = new RegExp(`^${prefix}(\\d+)-([0-9a-f]{8})-[0-9a-f]{8}$`)
  const names = await readdir(root).catch(() => [])
  for (const name of names) {
    const [, pid, madeBy] = pattern.exec(name) ?? []
    // A process number means something only where it was given.
    if (pid !== undefined && madeBy === machine() && !isAlive(Number(pid))) {
      await removeFolder(join(root, name))
    }
  }
}

/** Removes a folder. What cannot be removed now is removed by a later runner. */
export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {})
}

/** The machine, or the container or the sandbox on it that counts its processes by itself. */
function machine(): string {
  return createHash('sha256').update(`${hostname()} ${processNamespace()}`).digest('hex').slice(0, 8)
}

function processNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    // Other systems have none.
    return ''
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
