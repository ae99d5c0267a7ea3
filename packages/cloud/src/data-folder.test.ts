import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { FileBlobStore } from './blobs/file-blob-store.ts'
import { makeDataFolder } from './data-folder.ts'
import { DataLock } from './store/data-lock.ts'

describe('a data folder', () => {
  let home: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'botcli-data-'))
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))

  it('is made with all above it, for its user only', async () => {
    const folder = join(home, 'a', 'b')
    await makeDataFolder(folder, ['logs', 'work'])
    await makeDataFolder(folder, ['logs', 'work'])
    for (const path of ['a', 'a/b', 'a/b/logs', 'a/b/work']) {
      expect(statSync(join(home, path)).mode & 0o777).toBe(0o700)
    }
  })

  it('has files for its user only, even where it is open to others itself', async () => {
    const lock = DataLock.take(home)
    lock.close()
    const blobs = await FileBlobStore.open(join(home, 'uploads'))
    await blobs.put('blob', Readable.from(['x']), 10)
    for (const path of ['lock', 'lock.owner', 'uploads/blob']) {
      expect(statSync(join(home, path)).mode & 0o777).toBe(0o600)
    }
  })

  it('may be behind a link', async () => {
    mkdirSync(join(home, 'real'))
    symlinkSync('real', join(home, 'link'))
    await makeDataFolder(join(home, 'link', 'data'), ['logs'])
    expect(statSync(join(home, 'real', 'data', 'logs')).isDirectory()).toBe(true)
  })

  it.each([
    ['file', /: it is no folder, or lies below something that is none \(ENOTDIR\)\. .*--data\.$/],
    ['file/below', /\(ENOTDIR\)/],
    ['holder', /\(ENOTDIR\)/],
    ['circle', /\(ELOOP\)/],
    ['dangling', /: something else has its name \(EEXIST\)/],
    ['x'.repeat(300), /\(ENAMETOOLONG\)/],
  ])('cannot be %s', async (path, expected) => {
    writeFileSync(join(home, 'file'), '')
    mkdirSync(join(home, 'holder'))
    writeFileSync(join(home, 'holder', 'logs'), '')
    symlinkSync('circle', join(home, 'circle'))
    symlinkSync('nowhere', join(home, 'dangling'))
    const made = makeDataFolder(join(home, path), ['logs'])
    await expect(made).rejects.toMatchObject({ name: 'CloudError' })
    await expect(made).rejects.toThrow(expected)
  })

  it.skipIf(process.platform !== 'linux').each(['/proc', '/proc/x', '/proc/x/y'])(
    'cannot be %s, and that is told at once',
    async (folder) => {
      await expect(makeDataFolder(folder, ['logs'])).rejects.toThrow(
        `The data folder ${folder} cannot be used`,
      )
    },
  )

  it.skipIf(process.getuid?.() === 0)('cannot be where one may not write', async () => {
    mkdirSync(join(home, 'closed'), { mode: 0o500 })
    await expect(makeDataFolder(join(home, 'closed', 'x'), [])).rejects.toThrow('you may not write there')
    await expect(makeDataFolder(join(home, 'closed'), [])).rejects.toThrow('you may not write there')
  })
})
