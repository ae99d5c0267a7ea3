import { createWriteStream } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type ContextSummary, type ContextVisitor, readContext } from './read-context.ts'

/** Unpacks a context into a new folder. Modes are only whether a file can be run, and owners are ours. */
export async function unpackContext(
  packed: Readable,
  folder: string,
  signal?: AbortSignal,
): Promise<ContextSummary> {
  await mkdir(folder, { recursive: true })
  const made = new Set<string>([folder])
  const makeFolder = async (path: string): Promise<void> => {
    if (made.has(path)) return
    await mkdir(path, { recursive: true })
    made.add(path)
  }
  const visitor: ContextVisitor = {
    folder: (path) => makeFolder(join(folder, path)),
    async file(path, executable, content) {
      const target = join(folder, path)
      await makeFolder(dirname(target))
      const mode = executable ? 0o755 : 0o644
      await pipeline(Readable.from(content), createWriteStream(target, { flags: 'wx', mode }))
    },
    async link(path, target) {
      const place = join(folder, path)
      await makeFolder(dirname(place))
      await symlink(target, place)
    },
  }
  return readContext(packed, visitor, signal)
}
