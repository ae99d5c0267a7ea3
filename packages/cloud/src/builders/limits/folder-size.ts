import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

const BLOCK = 512

/** The disk space that a folder takes. What vanishes while it is measured counts nothing. */
export async function folderSize(folder: string): Promise<number> {
  let bytes = 0
  const waiting = [folder]
  const seen = new Set<number>()
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of await readdir(next, { withFileTypes: true }).catch(() => [])) {
      const path = join(next, entry.name)
      const found = await lstat(path).catch(() => undefined)
      if (found === undefined) continue
      // A file with two names takes its space once.
      if (found.nlink > 1 && !entry.isDirectory()) {
        if (seen.has(found.ino)) continue
        seen.add(found.ino)
      }
      bytes += found.blocks * BLOCK
      if (entry.isDirectory()) waiting.push(path)
    }
  }
  return bytes
}
