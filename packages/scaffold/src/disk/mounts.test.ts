import { execFileSync, spawnSync } from 'node:child_process'
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { freshFolder } from '../testing/folders.ts'
import { FILE_COUNT, writerProgram } from '../testing/writer-program.ts'

const canMount = spawnSync('unshare', ['-rm', 'true']).status === 0

it.runIf(canMount)('writes into a folder that is another mount of the same disk', async () => {
  const program = await writerProgram()
  const home = await freshFolder()
  for (const name of ['behind', 'project']) await mkdir(join(home, name))
  const script = 'mount --bind behind project && exec "$0" "$1" "$2"'
  execFileSync('unshare', ['-rm', 'sh', '-c', script, process.execPath, program, join(home, 'project')], {
    cwd: home,
  })
  const written = await readdir(join(home, 'behind'), { recursive: true })
  expect(written.filter((path) => path.includes('/'))).toHaveLength(FILE_COUNT)
  expect(written.filter((path) => path.includes('stage'))).toEqual([])
  expect(await readdir(home)).toEqual(['behind', 'project'])
})

it.runIf(canMount)('says that a folder inside is on another disk, and writes nothing', async () => {
  const program = await writerProgram()
  const home = await freshFolder()
  for (const name of ['behind', 'project/server']) await mkdir(join(home, name), { recursive: true })
  const script = 'mount --bind behind project/server && exec "$0" "$1" "$2"'
  const words = ['-rm', 'sh', '-c', script, process.execPath, program, join(home, 'project')]
  const { status, stderr } = spawnSync('unshare', words, { cwd: home, encoding: 'utf8' })
  expect(status).toBe(1)
  expect(stderr).toContain('is on another disk')
  expect(await readdir(home, { recursive: true })).toEqual(['behind', 'project', 'project/server'])
})
