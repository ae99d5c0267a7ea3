import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'

/** What a bot can put in the place of a file, so that there is nothing to be read. */
export interface Rubbish {
  readonly name: string
  /** Whether nobody but root can make it, or it is nothing to root. */
  readonly by: 'anybody' | 'root' | 'user'
  /** Makes it at a path where nothing is. */
  make(path: string): void
}

/** A line that no reader is to have read: links lead to it. */
export const FOREIGN_LINE = 'of somebody else\n'

/** Everything that we could think of. */
export const RUBBISH: readonly Rubbish[] = [
  { name: 'a folder', by: 'anybody', make: (path) => mkdirSync(path) },
  {
    name: 'a folder with something in it',
    by: 'anybody',
    make: (path) => {
      mkdirSync(join(path, 'inner'), { recursive: true })
      writeFileSync(join(path, 'inner/file'), '')
    },
  },
  { name: 'folders that are nested deeply', by: 'anybody', make: nest },
  { name: 'a pipe', by: 'anybody', make: (path) => void execFileSync('mkfifo', [path]) },
  { name: 'a socket', by: 'anybody', make: (path) => void createServer().listen(path).unref() },
  {
    name: 'a link to a file',
    by: 'anybody',
    make: (path) => {
      const target = join(dirname(path), 'foreign')
      writeFileSync(target, FOREIGN_LINE)
      symlinkSync(target, path)
    },
  },
  { name: 'a link to a folder', by: 'anybody', make: (path) => symlinkSync('/', path) },
  { name: 'a link to itself', by: 'anybody', make: (path) => symlinkSync(path, path) },
  { name: 'a link to nothing', by: 'anybody', make: (path) => symlinkSync('/nowhere/at/all', path) },
  { name: 'a link to a device', by: 'anybody', make: (path) => symlinkSync('/dev/zero', path) },
  {
    name: 'a device',
    by: 'root',
    make: (path) => void execFileSync('mknod', [path, 'c', '1', '5']),
  },
  {
    name: 'a file that cannot be read',
    by: 'user',
    make: (path) => {
      writeFileSync(path, FOREIGN_LINE)
      chmodSync(path, 0)
    },
  },
]

/** What of it can be made here. */
export const MADE_HERE = RUBBISH.filter(
  ({ by }) => by === 'anybody' || by === (process.getuid?.() === 0 ? 'root' : 'user'),
)

/** Makes a file that is longer than anybody can read, and takes no room. */
export function makeHole(path: string): void {
  writeFileSync(path, '')
  truncateSync(path, 2 ** 43)
}

/** Makes folders below each other, deeper than a path can be long. */
export function nest(path: string): void {
  const script = 'import os,sys\nos.mkdir(sys.argv[1]); os.chdir(sys.argv[1])\n'
  const deeper = 'for _ in range(600):\n  os.mkdir("inside-of-it"); os.chdir("inside-of-it")\n'
  execFileSync('python3', ['-c', script + deeper, path])
}
