import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { freshFolder } from '../testing/folders.ts'
import { inspectFolder } from './folder.ts'

describe('inspectFolder', () => {
  it('finds a folder, what is missing of it, and where links lead', async () => {
    const root = await freshFolder()
    await mkdir(join(root, 'real'))
    await symlink('real', join(root, 'link'))
    expect(await inspectFolder(join(root, 'link'))).toEqual({
      path: join(root, 'real'),
      missing: [],
      base: join(root, 'real'),
    })
    expect(await inspectFolder(join(root, 'link', 'a', 'b'))).toEqual({
      path: join(root, 'real', 'a', 'b'),
      missing: ['a', 'b'],
      base: join(root, 'real'),
    })
  })

  it('refuses what cannot be a folder, and says why', async () => {
    const root = await freshFolder()
    await writeFile(join(root, 'file'), '')
    await symlink('nowhere', join(root, 'dangling'))
    await symlink('loop', join(root, 'loop'))
    for (const [path, reason] of [
      ['file', /: a file is there\.$/],
      ['file/a/b', /file is a file\.$/],
      ['dangling', /dangling is a symbolic link to something that does not exist\.$/],
      ['dangling/a', /dangling is a symbolic link/],
      ['loop', /leads back to itself\.$/],
      ['x'.repeat(300), /too long\.$/],
    ] as const) {
      await expect(inspectFolder(join(root, path))).rejects.toMatchObject({
        code: 'target_unusable',
        message: expect.stringMatching(reason),
      })
    }
  })
})
