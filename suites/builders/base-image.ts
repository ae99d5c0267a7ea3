import { execFile } from 'node:child_process'
import { cp, mkdir, realpath, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The name of the base image of these tests. */
export const BASE = 'localhost/botcli-test-base:1'

/** Fills a folder with what a base image is made of without a registry: a static busybox, and this machine's own Node and npm. */
export async function writeBaseContext(folder: string): Promise<void> {
  const root = join(folder, 'root')
  await mkdir(join(root, 'bin'), { recursive: true })
  await mkdir(join(root, 'tmp'), { mode: 0o1777 })
  await cp('/usr/bin/busybox', join(root, 'bin/busybox'))
  await copyProgram(process.execPath, '/bin/node', root)
  const npm = dirname(dirname(await realpath((await run('which', ['npm'])).stdout.trim())))
  await cp(npm, join(root, 'lib/npm'), { recursive: true, dereference: true })
  await writeFile(join(root, 'bin/npm'), '#!/bin/sh\nexec node /lib/npm/bin/npm-cli.js "$@"\n', {
    mode: 0o755,
  })
  const install =
    '/bin/busybox --install -s /bin; mkdir -p /etc; echo root:x:0:0::/root:/bin/sh > /etc/passwd'
  const lines = [
    'FROM scratch',
    'COPY root /',
    `RUN ["/bin/busybox", "sh", "-c", "${install}"]`,
    'ENV HOME=/root',
  ]
  await writeFile(join(folder, 'Dockerfile'), `${lines.join('\n')}\n`)
}

/** Copies a program with the libraries that it needs. */
async function copyProgram(from: string, to: string, root: string): Promise<void> {
  await cp(await realpath(from), join(root, to))
  const { stdout } = await run('ldd', [from])
  for (const [, path = ''] of stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await cp(await realpath(path), join(root, path))
  }
}
