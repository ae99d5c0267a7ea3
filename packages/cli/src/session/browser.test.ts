import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { folderWith } from '../testing/folder.ts'
import { openInBrowser } from './browser.ts'

const URL = 'http://localhost/talk/?agent=echo#key=pk_x'

describe('a page in the browser', () => {
  it('is opened by the program for that', async () => {
    const folder = await folderWith({ 'xdg-open': '#!/bin/sh\necho "$1" > "$FOLDER/opened"\n' })
    const env = { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':0', FOLDER: folder }
    expect(await openInBrowser(URL, env, 'linux')).toBe(true)
    await vi.waitFor(async () => expect(await readFile(join(folder, 'opened'), 'utf8')).toBe(`${URL}\n`))
  })

  it.each([
    ['there is no such program', {}, { DISPLAY: ':0' }],
    ['it fails', { 'xdg-open': '#!/bin/sh\nexit 3\n' }, { DISPLAY: ':0' }],
    ['there is no screen', { 'xdg-open': '#!/bin/sh\n' }, {}],
  ])('is not opened where %s', async (_, tree, screen) => {
    const folder = await folderWith(tree)
    expect(await openInBrowser(URL, { PATH: folder, ...screen }, 'linux')).toBe(false)
  })
})
