import { createReadStream } from 'node:fs'
import { lstat, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Pack, pack } from 'tar-stream'

// Not the beginning of time: zip files, and with them Python packages, know nothing before 1980.
const TIME = new Date('2000-01-01T00:00:00Z')

/** A folder as a tar archive, as it is read: never more than a piece of it is in memory. */
export function contextTar(folder: string): Readable {
  const archive = pack()
  addFolder(archive, folder, '').then(
    () => archive.finalize(),
    (error: Error) => archive.destroy(error),
  )
  return Readable.from(archive)
}

async function addFolder(archive: Pack, root: string, folder: string): Promise<void> {
  for (const name of (await readdir(join(root, folder))).toSorted()) {
    if (archive.destroyed) return
    const path = folder === '' ? name : `${folder}/${name}`
    const found = await lstat(join(root, path))
    // The same owner and time for all, so that the same content is the same layer.
    const header = { name: path, mode: found.mode & 0o777, mtime: TIME, uid: 0, gid: 0 }
    if (found.isDirectory()) {
      archive.entry({ ...header, type: 'directory' as const })
      await addFolder(archive, root, path)
    } else if (found.isSymbolicLink()) {
      archive.entry({ ...header, type: 'symlink', linkname: await readlink(join(root, path)) })
    } else if (found.isFile()) {
      await pipeline(createReadStream(join(root, path)), archive.entry({ ...header, size: found.size }))
    }
  }
}
