import { readFile } from 'node:fs/promises'
import { vi } from 'vitest'

/** Whether there is such a process. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The numbers that a program writes to a file, on one line, once it has begun. */
export async function writtenIn(path: string): Promise<readonly number[]> {
  const read = async () => {
    const text = await readFile(path, 'utf8').catch(() => '')
    return text.endsWith('\n') ? text : undefined
  }
  const text = await vi.waitUntil(read, { timeout: 20_000 })
  return text.trim().split(' ').map(Number)
}
