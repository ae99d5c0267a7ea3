import { chmod, mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { PlannedFile } from '../plan.ts'
import { freshFolder, snapshot, withoutRights } from '../testing/folders.ts'
import { type ComparePolicy, compare } from './compare.ts'
import { inspectFolder } from './folder.ts'

const STRICT: ComparePolicy = { force: false, replaceGuides: new Set() }
const FORCED: ComparePolicy = { force: true, replaceGuides: new Set() }

function file(path: string, content = 'ours\n'): PlannedFile {
  return { path, content }
}

/** What becomes of each file, with the reason of a conflict. */
async function look(
  root: string,
  files: readonly PlannedFile[],
  policy: ComparePolicy = STRICT,
): Promise<readonly string[]> {
  const before = await snapshot(root)
  const comparison = await compare(await inspectFolder(root), files, policy)
  expect(await snapshot(root)).toEqual(before)
  return comparison.files.map(({ status, reason }) =>
    reason === undefined ? status : `${status}: ${reason}`,
  )
}

describe('compare', () => {
  it('creates everything in a folder that is missing, empty, or has other things in it', async () => {
    const root = await freshFolder()
    const missing = await compare(await inspectFolder(join(root, 'new/er')), [file('server/bot.py')], STRICT)
    expect(missing.files).toMatchObject([{ status: 'create' }])
    for (const path of ['.git', '.github', '.vscode', 'server']) await mkdir(join(root, path))
    await writeFile(join(root, 'LICENSE'), 'theirs')
    expect(await look(root, [file('server/bot.py'), file('README.md')])).toEqual(['create', 'create'])
  })

  it('tells what is the same from what is in the way', async () => {
    const root = await freshFolder()
    await writeFile(join(root, 'a'), 'ours\n')
    await writeFile(join(root, 'b'), 'theirs\n')
    await mkdir(join(root, 'c'))
    await writeFile(join(root, 'd'), '')
    const files = [file('a'), file('b'), file('c'), file('d/e')]
    expect(await look(root, files)).toEqual([
      'identical',
      'conflict: the file is there, with other content',
      'conflict: a folder is there',
      'conflict: d is a file, where a folder is needed',
    ])
    expect(await look(root, files, FORCED)).toEqual([
      'identical',
      'replace',
      'conflict: a folder is there',
      'conflict: d is a file, where a folder is needed',
    ])
  })

  it('never writes through links, which may lead outside', async () => {
    const [root, outside] = [await freshFolder(), await freshFolder()]
    await writeFile(join(outside, 'README.md'), 'theirs\n')
    await writeFile(join(outside, 'same'), 'ours\n')
    await symlink(outside, join(root, 'server'))
    await symlink(join(outside, 'README.md'), join(root, 'README.md'))
    await symlink(join(outside, 'same'), join(root, 'same'))
    await symlink('nowhere', join(root, 'dangling'))
    await symlink(join(outside, 'README.md'), join(root, '.gitignore'))
    const files = ['server/evals/x', 'README.md', 'same', 'dangling', '.gitignore'].map((path) => file(path))
    expect(await look(root, files)).toEqual([
      'conflict: server is a symbolic link',
      'conflict: a symbolic link is there',
      'identical',
      'conflict: a symbolic link is there',
      'conflict: a symbolic link is there',
    ])
    // The link itself is replaced, not what it leads to.
    expect(await look(root, files, FORCED)).toEqual([
      'conflict: server is a symbolic link',
      'replace',
      'identical',
      'replace',
      'merge',
    ])
  })

  it('finds names that are the same where case does not count', async () => {
    const root = await freshFolder()
    await writeFile(join(root, 'readme.MD'), '')
    await mkdir(join(root, 'Server'))
    expect(await look(root, [file('README.md'), file('server/bot.py')], FORCED)).toEqual([
      'conflict: readme.MD is there, which is the same name on some disks',
      'conflict: Server is there, which is the same name on some disks',
    ])
  })

  it('merges ignore files', async () => {
    const root = await freshFolder()
    await writeFile(join(root, '.gitignore'), 'mine\n')
    const { files } = await compare(
      await inspectFolder(root),
      [file('.gitignore', 'node_modules/\n')],
      FORCED,
    )
    expect(files).toMatchObject([{ status: 'merge' }])
    expect(Buffer.from(files[0]?.bytes ?? []).toString()).toBe('mine\n\n# Added by botcli\nnode_modules/\n')
    await writeFile(join(root, '.gitignore'), 'node_modules/\nmine\n')
    expect(await look(root, [file('.gitignore', 'node_modules/\n')])).toEqual(['identical'])
  })

  it('keeps guides, even with force, unless they are to be replaced', async () => {
    const root = await freshFolder()
    await writeFile(join(root, 'AGENTS.md'), 'theirs\n')
    expect(await look(root, [file('AGENTS.md')], FORCED)).toEqual(['keep'])
    const replace = { force: false, replaceGuides: new Set(['AGENTS.md']) }
    expect(await look(root, [file('AGENTS.md')], replace)).toEqual(['replace'])
  })

  it('replaces the answers of an earlier run, but no other file of that name', async () => {
    const root = await freshFolder()
    const path = '.botcli.json'
    await writeFile(join(root, path), '{"version":"0.0.1","configuration":{},"files":{}}')
    expect(await look(root, [file(path)])).toEqual(['replace'])
    await writeFile(join(root, path), '{"mine": true}')
    expect(await look(root, [file(path)])).toEqual(['conflict: the file is there, with other content'])
    await rm(join(root, path))
    expect(await look(root, [file(path)])).toEqual(['create'])
  })

  it('keeps the permissions of files, but not those that links have', async () => {
    const root = await freshFolder()
    await writeFile(join(root, 'a'), '', { mode: 0o640 })
    await symlink('a', join(root, 'b'))
    await symlink('nowhere', join(root, 'c'))
    const files = ['a', 'b', 'c'].map((path) => file(path))
    const compared = await compare(await inspectFolder(root), files, FORCED)
    expect(compared.files.map(({ mode }) => mode)).toEqual([0o640, 0o640, undefined])
  })

  it('takes what it may not look at for something in the way', async () => {
    const root = await freshFolder()
    await chmod(root, 0o755)
    await writeFile(join(root, 'README.md'), 'ours!', { mode: 0 })
    await mkdir(join(root, 'server'), { mode: 0o444 })
    await mkdir(join(root, 'client'), { mode: 0o111 })
    const files = [file('README.md'), file('server/bot.py'), file('client/index.html')]
    const { files: compared } = await withoutRights(async () =>
      compare(await inspectFolder(root), files, FORCED),
    )
    expect(compared.map(({ status, reason }) => reason ?? status)).toEqual([
      'permission denied',
      'permission denied',
      'create',
    ])
  })

  it('does not read a file that is of another size', async () => {
    const root = await freshFolder()
    await writeFile(join(root, 'README.md'), '')
    // More than can be read at once; there is nothing in it.
    await truncate(join(root, 'README.md'), 3 * 1024 ** 3)
    const { files } = await compare(await inspectFolder(root), [file('README.md')], STRICT)
    expect(files).toMatchObject([{ status: 'conflict' }])
  })

  it('compares bytes that are no text', async () => {
    const root = await freshFolder()
    const bytes = new Uint8Array([0, 255, 1])
    await writeFile(join(root, 'wheel'), bytes)
    expect(await look(root, [{ path: 'wheel', content: '', bytes }])).toEqual(['identical'])
  })
})
