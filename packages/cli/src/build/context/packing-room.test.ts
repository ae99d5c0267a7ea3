import { execFile, execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { folderWith, type Tree } from '../../testing/folder.ts'
import { type BuildContext, readContext } from './context.ts'
import { packContext } from './pack.ts'

const { signal } = new AbortController()
const run = promisify(execFile)

/** Whether this user may mount a small file system. */
const canMount = (() => {
  try {
    execFileSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})()

async function contextOf(tree: Tree): Promise<BuildContext> {
  const folder = await folderWith({ Dockerfile: 'FROM x\n', ...tree })
  return readContext({ folder, dockerfile: 'Dockerfile', signal })
}

/** Packs with temporary files elsewhere. */
async function packIn(folder: string, context: BuildContext): Promise<unknown> {
  const before = process.env.TMPDIR
  process.env.TMPDIR = folder
  try {
    return await packContext(context, signal)
  } finally {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  }
}

it('a folder for temporary files that is not there is told', async () => {
  const context = await contextOf({})
  const nowhere = join(context.folder, 'nowhere')
  await expect(packIn(nowhere, context)).rejects.toMatchObject({
    name: 'ContextError',
    message: `The context cannot be packed in ${nowhere} (ENOENT). Make room there, or name another folder for temporary files by TMPDIR.`,
  })
})

it.skipIf(!canMount)(
  'a folder for temporary files that is full is told (this needs the right to mount)',
  async () => {
    const context = await contextOf({ a: randomBytes(3_000_000) })
    const disk = await folderWith({})
    await run('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
    onTestFinished(async () => void (await run('umount', [disk])))
    const packing = packIn(disk, context)
    await expect(packing).rejects.toMatchObject({ code: 'NO_ROOM' })
    await expect(packing).rejects.toThrow(`cannot be packed in ${disk} (there is no room left)`)
    expect(await readdir(disk)).toEqual([])
  },
)
