import { lstat, mkdtemp, readdir, readFile, readlink, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A fresh folder that goes away with the test. */
export async function freshFolder(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'scaffold-')))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Everything in a folder, so that two moments can be compared: content, links, permissions. */
export async function snapshot(root: string): Promise<Readonly<Record<string, string>>> {
  const entries: Record<string, string> = {}
  for (const name of (await readdir(root, { recursive: true })).toSorted()) {
    const place = join(root, name)
    const found = await lstat(place)
    const mode = (found.mode & 0o777).toString(8)
    if (found.isSymbolicLink()) entries[name] = `-> ${await readlink(place)}`
    else entries[name] = found.isDirectory() ? `folder ${mode}` : `${mode} ${await readFile(place, 'latin1')}`
  }
  return entries
}

/** Does something without the rights of root, for whom nothing is read-only. */
export async function withoutRights<T>(act: () => Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0 || process.seteuid === undefined) return act()
  process.seteuid(65_534)
  try {
    return await act()
  } finally {
    process.seteuid(0)
  }
}
