import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** Every file under a folder with what is in it. */
export async function treeOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const read = async (path: string): Promise<[string, string]> => [
    relative(folder, path),
    await readFile(path, 'latin1'),
  ]
  return new Map((await Promise.all(files.toSorted().map(read))).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
