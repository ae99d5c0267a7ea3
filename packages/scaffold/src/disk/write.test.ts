import { chmod, link, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { PlannedFile } from '../plan.ts'
import { freshFolder, snapshot, withoutRights } from '../testing/folders.ts'
import { type Comparison, compare } from './compare.ts'
import { fileFingerprint } from './fingerprint.ts'
import { openFolder } from './project.ts'
import { write } from './write.ts'

const FILES: readonly PlannedFile[] = [
  { path: 'AGENTS.md', content: 'guide\n' },
  { path: 'server/bot.py', content: 'bot\n' },
  { path: 'server/evals/a.yaml', content: 'a\n' },
  { path: 'server/wheels/w.whl', content: '', bytes: new Uint8Array([0, 255]) },
  { path: 'client/src/lib/x.ts', content: 'x\n' },
  { path: 'README.md', content: 'readme\n' },
  { path: '.gitignore', content: 'ours\n' },
]
const DEAD = { isAlive: () => false, now: Date.now }

/** A folder with things of the user's, some of which are in the way. */
async function usedFolder(): Promise<{ readonly home: string; readonly root: string }> {
  const home = await freshFolder()
  const root = join(home, 'project')
  await mkdir(join(root, 'server/own'), { recursive: true })
  await mkdir(join(root, '.git'))
  await writeFile(join(root, 'README.md'), 'theirs\n')
  await chmod(join(root, 'README.md'), 0o640)
  await writeFile(join(root, '.gitignore'), 'theirs\n')
  await symlink('../README.md', join(root, 'server/bot.py'))
  return { home, root }
}

async function forced(root: string, files = FILES): Promise<Comparison> {
  return compare(await openFolder(root, DEAD), files, { force: true, replaceGuides: new Set() })
}

/** Writes until the step with this number, and stops there for ever, as a killed process does. Says whether it got there. */
async function killedAt(comparison: Comparison, step: number): Promise<boolean> {
  let steps = 0
  return new Promise((resolve, reject) => {
    const onStep = (): void | Promise<void> => {
      steps += 1
      if (steps <= step) return
      resolve(true)
      return new Promise(() => {})
    }
    write(comparison, { onStep }).then(() => resolve(false), reject)
  })
}

/** Writes until the step with this number, which fails. */
async function failedAt(comparison: Comparison, step: number, error: Error): Promise<unknown> {
  let steps = 0
  const onStep = (): void => {
    steps += 1
    if (steps > step) throw error
  }
  return write(comparison, { onStep }).then(
    () => undefined,
    (failure: unknown) => failure,
  )
}

describe('write', () => {
  it('makes a new folder, with the folders above it, and leaves nothing else', async () => {
    const home = await freshFolder()
    const root = join(home, 'a/b/project')
    await write(await forced(root))
    expect(await readdir(home)).toEqual(['a'])
    const written = await snapshot(root)
    expect(Object.keys(written).filter((name) => !written[name]?.startsWith('folder'))).toEqual(
      FILES.map(({ path }) => path).toSorted(),
    )
    expect(await readFile(join(root, 'server/wheels/w.whl'))).toEqual(Buffer.from([0, 255]))
    const umask = process.umask()
    expect((await stat(join(root, 'server'))).mode & 0o777).toBe(0o777 & ~umask)
    expect((await stat(join(root, 'README.md'))).mode & 0o777).toBe(0o666 & ~umask)
  })

  it('changes a folder that is there, in place, and keeps permissions and everything else', async () => {
    const { home, root } = await usedFolder()
    const { ino } = await stat(root)
    await write(await forced(root))
    expect((await stat(root)).ino).toBe(ino)
    expect(await readdir(home)).toEqual(['project'])
    expect(await snapshot(root)).toMatchObject({
      '.git': expect.stringMatching(/^folder/),
      'server/own': expect.stringMatching(/^folder/),
      'README.md': '640 readme\n',
      '.gitignore': expect.stringContaining('theirs\n\n# Added by botcli\nours\n'),
      'server/bot.py': expect.stringMatching(/ bot\n$/),
      'server/evals/a.yaml': expect.stringMatching(/ a\n$/),
    })
    // The second time there is nothing to do.
    const again = await forced(root)
    expect(new Set(again.files.map(({ status }) => status))).toEqual(new Set(['identical']))
    await write(again, {
      onStep: () => {
        throw new Error('there is nothing to write')
      },
    })
  })

  it('writes nothing when something is in the way, and names all of it', async () => {
    const { home, root } = await usedFolder()
    const before = await snapshot(home)
    const strict = await compare(await openFolder(root), FILES, { force: false, replaceGuides: new Set() })
    await expect(write(strict)).rejects.toMatchObject({
      code: 'conflict',
      message:
        'These are in the way; nothing was written.\n  server/bot.py: a symbolic link is there\n  README.md: the file is there, with other content',
    })
    expect(await snapshot(home)).toEqual(before)
  })
})

describe.each([
  ['a new folder', async () => ({ home: await freshFolder(), name: 'new/project' })],
  ['a folder with things in it', async () => ({ home: (await usedFolder()).home, name: 'project' })],
])('%s is as it was', (_kind, make) => {
  it('when any step fails', async () => {
    const { home, name } = await make()
    const before = await snapshot(home)
    let steps = 0
    for (;;) {
      const failure = await failedAt(await forced(join(home, name)), steps, new Error('no'))
      if (failure === undefined) break
      expect(failure).toMatchObject({ name: 'ScaffoldError', code: 'write_failed' })
      expect(await snapshot(home)).toEqual(before)
      steps += 1
    }
    expect(steps).toBeGreaterThan(FILES.length)
  })

  it('when it is cancelled at any step', async () => {
    const { home, name } = await make()
    const before = await snapshot(home)
    for (let last = 0; ; last += 1) {
      const controller = new AbortController()
      let steps = 0
      const onStep = (): void => {
        steps += 1
        if (steps > last) controller.abort()
      }
      const failure = await write(await forced(join(home, name)), { onStep, signal: controller.signal }).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (failure === undefined) break
      expect(failure).toMatchObject({ code: 'cancelled', message: 'Cancelled. Nothing was written.' })
      expect(await snapshot(home)).toEqual(before)
    }
  })

  it('after the next run, when it was killed at any step', async () => {
    const { home, name } = await make()
    const before = await snapshot(home)
    let last = 0
    while (await killedAt(await forced(join(home, name)), last)) {
      await openFolder(join(home, name), DEAD)
      expect(await snapshot(home)).toEqual(before)
      last += 1
    }
    expect(last).toBeGreaterThan(FILES.length)
  })
})

describe('after a kill', () => {
  /** The number of the last step: everything is in place but for the last file. */
  async function lastStep(): Promise<number> {
    const { root } = await usedFolder()
    let steps = 0
    await write(await forced(root), {
      onStep: () => {
        steps += 1
      },
    })
    return steps - 1
  }

  it('nothing is taken back that somebody has changed since', async () => {
    const last = await lastStep()
    const { home, root } = await usedFolder()
    expect(await killedAt(await forced(root), last)).toBe(true)
    await writeFile(join(root, 'server/evals/a.yaml'), 'mine now\n')
    await writeFile(join(root, 'client/notes.txt'), 'mine, too\n')
    await openFolder(root, DEAD)
    const after = await snapshot(root)
    expect(after).toMatchObject({
      'server/evals/a.yaml': expect.stringContaining('mine now'),
      'client/notes.txt': expect.stringContaining('mine, too'),
      'README.md': '640 theirs\n',
      'server/bot.py': '-> ../README.md',
    })
    expect(Object.keys(after).filter((path) => /AGENTS|wheels|client.src/.test(path))).toEqual([])
    expect(await readdir(home)).toEqual(['project'])
  })

  it('a project that is complete stays, whatever became of its files', async () => {
    const { home, root } = await usedFolder()
    const stage = join(home, '.botcli-stage-')
    await write(await forced(root))
    const done = await snapshot(root)
    // As if the process had been killed just before it removed its journal.
    const name = `${stage}${await ownMachine()}-1-abcdef`
    await mkdir(join(name, 'new'), { recursive: true })
    const moves = [
      { kind: 'folder', path: 'client' },
      { kind: 'file', path: 'AGENTS.md' },
    ]
    const files = { 'client/src/lib/x.ts': fileFingerprint(Buffer.from('x\n')) }
    await writeFile(join(name, 'journal.json'), JSON.stringify({ root, moves, files }))
    await rm(join(root, 'AGENTS.md'))
    await openFolder(root, DEAD)
    const { 'AGENTS.md': _gone, ...rest } = done
    expect(await snapshot(root)).toEqual(rest)
    expect(await readdir(home)).toEqual(['project'])
  })

  it('a file that has both its old and its new name was moved', async () => {
    const { home, root } = await usedFolder()
    const was = await snapshot(root)
    const stage = join(home, `.botcli-stage-${await ownMachine()}-1-abcdef`)
    await mkdir(join(stage, 'new'), { recursive: true })
    for (const name of ['a', 'b']) await writeFile(join(stage, 'new', name), 'ours\n')
    await link(join(stage, 'new', 'a'), join(root, 'a'))
    const ours = fileFingerprint(Buffer.from('ours\n'))
    const moves = ['a', 'b'].map((path) => ({ kind: 'file', path }))
    await writeFile(join(stage, 'journal.json'), JSON.stringify({ root, moves, files: { a: ours, b: ours } }))
    await openFolder(root, DEAD)
    expect(await snapshot(root)).toEqual(was)
  })

  it.each([
    ['{"root": ', 'is not whole'],
    ['{"root": "ROOT", "moves": [{"kind": "file", "path": "../x"}], "files": {}}', 'leads outside'],
    ['{"root": "ROOT", "moves": 1}', 'is something else'],
  ])('a journal of %j %s and is not acted on', async (text) => {
    const { home, root } = await usedFolder()
    await writeFile(join(home, 'x'), '')
    const stage = join(home, `.botcli-stage-${await ownMachine()}-1-abcdef`)
    const was = await snapshot(home)
    await mkdir(stage)
    await writeFile(join(stage, 'journal.json'), text.replace('ROOT', root))
    await openFolder(root, DEAD)
    expect(await snapshot(home)).toEqual(was)
  })

  it('what others are doing is left alone', async () => {
    const { home, root } = await usedFolder()
    expect(await killedAt(await forced(root), (await lastStep()) - 2)).toBe(true)
    const alive = { isAlive: () => true, now: Date.now }
    await expect(openFolder(root, alive)).rejects.toMatchObject({ code: 'busy' })
    const other = join(home, 'other')
    await openFolder(other, DEAD)
    expect(await readdir(home)).toHaveLength(2)
    // Much later the number belongs to another process.
    const later = { isAlive: () => true, now: () => Date.now() + 3_600_000 }
    await openFolder(root, later)
    expect(await readdir(home)).toEqual(['project'])
  })

  it('folders that only look like ours are left alone', async () => {
    const { home, root } = await usedFolder()
    const names = ['.botcli-stage-x', `.botcli-stage-00000000-1-abcdef`, 'other']
    for (const name of names) await mkdir(join(home, name))
    await symlink('other', join(home, `.botcli-stage-${await ownMachine()}-1-abcdef`))
    await openFolder(root, DEAD)
    expect(await readdir(home)).toHaveLength(5)
  })
})

describe('where writing is not allowed', () => {
  it('says so for a new folder', async () => {
    const home = await freshFolder()
    await chmod(home, 0o555)
    const comparison = await forced(join(home, 'project'))
    await expect(withoutRights(() => write(comparison))).rejects.toMatchObject({
      code: 'not_writable',
      message: `botcli cannot write to ${join(home, 'project')}: permission denied.`,
    })
    expect(await readdir(home)).toEqual([])
  })

  it('takes everything back when a folder inside is read-only', async () => {
    const home = await freshFolder()
    const root = join(home, 'project')
    await mkdir(join(root, 'server'), { recursive: true })
    await chmod(join(root, 'server'), 0o555)
    for (const path of [home, root]) await chmod(path, 0o777)
    const before = await snapshot(home)
    const comparison = await forced(root)
    await expect(withoutRights(() => write(comparison))).rejects.toMatchObject({ code: 'not_writable' })
    expect(await snapshot(home)).toEqual(before)
  })

  it('does its work inside of a folder when it may not do it beside', async () => {
    const home = await freshFolder()
    const root = join(home, 'project')
    await mkdir(root)
    await chmod(root, 0o777)
    await chmod(home, 0o555)
    const comparison = await forced(root)
    await withoutRights(() => write(comparison))
    expect((await readdir(root)).toSorted()).toEqual([
      '.gitignore',
      'AGENTS.md',
      'README.md',
      'client',
      'server',
    ])
  })
})

describe('when somebody else is quicker', () => {
  it.each([
    ['a file', 'README.md', async (place: string) => writeFile(place, 'quick\n')],
    ['a folder', 'server', async (place: string) => mkdir(join(place, 'x'), { recursive: true })],
  ])('%s is not overwritten', async (_kind, path, appear) => {
    const home = await freshFolder()
    const root = join(home, 'project')
    await mkdir(root)
    const comparison = await forced(root)
    let steps = 0
    const onStep = async (): Promise<void> => {
      steps += 1
      if (steps === 3) await appear(join(root, path))
    }
    await expect(write(comparison, { onStep })).rejects.toMatchObject({ code: 'conflict' })
    expect(Object.keys(await snapshot(root))).toEqual(path === 'server' ? ['server', 'server/x'] : [path])
    expect(await readdir(home)).toEqual(['project'])
  })

  it('a whole project is not overwritten', async () => {
    const home = await freshFolder()
    const root = join(home, 'project')
    const comparison = await forced(root)
    await mkdir(join(root, 'x'), { recursive: true })
    await expect(write(comparison)).rejects.toMatchObject({ code: 'conflict' })
    expect(await readdir(home, { recursive: true })).toEqual(['project', 'project/x'])
  })

  it('a file that was changed after it was compared is not replaced', async () => {
    const { home, root } = await usedFolder()
    const comparison = await forced(root)
    await writeFile(join(root, 'README.md'), 'newer\n')
    const before = await snapshot(home)
    await expect(write(comparison)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('README.md was changed by somebody else'),
    })
    expect(await snapshot(home)).toEqual(before)
  })
})

/** The part of a stage's name that stands for this machine. */
async function ownMachine(): Promise<string> {
  const home = await freshFolder()
  await killedAt(await forced(join(home, 'x')), 1)
  const [name = ''] = await readdir(home)
  return name.split('-')[2] ?? ''
}
