import { lstat, readFile, readlink } from 'node:fs/promises'
import { sha256 } from '../sha256.ts'
import { NOTHING_THERE, unless } from './failure.ts'

/** What is at a path, so that it can be told whether it is still the same; nothing if there is nothing. */
export async function fingerprint(path: string): Promise<string | undefined> {
  const found = await unless(NOTHING_THERE, () => lstat(path))
  if (found === undefined) return undefined
  if (found.isSymbolicLink()) return `link ${await readlink(path)}`
  if (found.isFile()) return fileFingerprint(await readFile(path))
  return found.isDirectory() ? 'folder' : 'other'
}

/** What a file with these bytes would have. */
export function fileFingerprint(bytes: Uint8Array): string {
  return `file ${sha256(bytes)}`
}
