import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { contextManifest } from '@botcli/protocol/cloud'
import { extract } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { folderWith, type Tree } from '../../testing/folder.ts'
import { type BuildContext, readContext } from './context.ts'
import { packContext } from './pack.ts'

const { signal } = new AbortController()
const run = promisify(execFile)

const TMPDIR = process.env.TMPDIR
beforeAll(async () => {
  process.env.TMPDIR = await mkdtemp(join(tmpdir(), 'botcli-packing-'))
})
afterAll(async () => {
  await rm(tmpdir(), { recursive: true })
  if (TMPDIR === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = TMPDIR
})

async function read(tree: Tree, dockerfile = 'Dockerfile'): Promise<BuildContext> {
  return readContext({ folder: await folderWith({ Dockerfile: 'FROM x\n', ...tree }), dockerfile, signal })
}

async function pathsOf(tree: Tree, dockerfile?: string): Promise<readonly string[]> {
  return (await read(tree, dockerfile)).files.map(({ path }) => path)
}

describe('what is sent', () => {
  it('is everything but what the ignore file names, in order', async () => {
    const tree = { 'b.py': '', 'a/z.py': '', 'a/x.txt': '', 'a.py': '', '.dockerignore': '**/*.txt\n' }
    expect(await pathsOf(tree)).toEqual(['.dockerignore', 'Dockerfile', 'a.py', 'a/z.py', 'b.py'])
  })

  it('has the build file and the ignore file, whatever the rules say', async () => {
    const tree = {
      '.dockerignore': '*\n!bot.py\n',
      'bot.py': '',
      'deep/er/Dockerfile': 'FROM x',
      'deep/x': '',
    }
    expect(await pathsOf(tree)).toEqual(['.dockerignore', 'Dockerfile', 'bot.py'])
    expect(await pathsOf(tree, 'deep/er/Dockerfile')).toEqual([
      '.dockerignore',
      'bot.py',
      'deep/er/Dockerfile',
    ])
  })

  it('goes by the ignore file of the build file rather than that of all', async () => {
    const tree = {
      '.dockerignore': 'a\n',
      'Dockerfile.dockerignore': 'b\n',
      a: '',
      b: '',
      'x/Dev': 'FROM y',
      'x/Dev.dockerignore': 'a\nb\n',
    }
    expect(await pathsOf(tree)).toContain('a')
    expect(await pathsOf(tree)).not.toContain('b')
    const other = await pathsOf(tree, 'x/Dev')
    expect(other).toContain('x/Dev.dockerignore')
    expect(other).not.toContain('a')
    expect(other).not.toContain('b')
  })

  it('leaves out what nobody wants where there is no ignore file, but no packages', async () => {
    const tree = {
      '.git/HEAD': '',
      'node_modules/a/x.js': '',
      'client/node_modules/b.js': '',
      'a/__pycache__/x.pyc': '',
      'env/pyvenv.cfg': '',
      'env/bin/python': '',
      'build/__init__.py': '',
      'env2/__init__.py': '',
      'lib.so': '',
      'deploy.toml': '',
      'x.log': '',
    }
    expect(await pathsOf(tree)).toEqual(['Dockerfile', 'build/__init__.py', 'env2/__init__.py', 'lib.so'])
  })

  it('never has secrets, not even where an ignore file wants them', async () => {
    const tree = {
      '.dockerignore': '*\n!.env*\n!keys',
      '.env': 'A=1',
      '.env.local': '',
      '.env.example': '',
      'keys/tls.pem': '',
      'keys/x': '',
    }
    const context = await read(tree)
    expect(context.files.map(({ path }) => path)).toEqual([
      '.dockerignore',
      '.env.example',
      'Dockerfile',
      'keys/x',
    ])
    expect(context.secrets).toEqual(['.env', '.env.local', 'keys/tls.pem'])
  })

  it('never has folders of secrets, and tells of each as a whole', async () => {
    const context = await read({
      '.dockerignore': '.aws',
      '.git/config': '',
      '.git/objects/ab': '',
      'a/.ssh/id': '',
      '.aws/credentials': '',
      '.gitignore': '',
    })
    expect(context.files.map(({ path }) => path)).toEqual(['.dockerignore', '.gitignore', 'Dockerfile'])
    expect(context.secrets).toEqual(['.git/', 'a/.ssh/'])
  })

  it('has links as links', async () => {
    const { files } = await read({
      'a/b': 'x',
      'a/l': '->b',
      d: '->a',
      gone: '->nowhere',
      'run.sh': '#!/bin/sh',
    })
    expect(files.filter(({ kind }) => kind !== 'file')).toEqual([
      { path: 'a/l', kind: 'link', size: 1, target: 'b', digest: sha256('b') },
      { path: 'd', kind: 'link', size: 1, target: 'a', digest: sha256('a') },
      { path: 'gone', kind: 'link', size: 7, target: 'nowhere', digest: sha256('nowhere') },
      { path: 'run.sh', kind: 'executable', size: 9, digest: sha256('#!/bin/sh') },
    ])
    expect(files.some(({ path }) => path.startsWith('d/'))).toBe(false)
  })

  it.each([['->../x'], ['->/etc/passwd'], ['->a/../../x'], ['->a/../a/b'], ['->./a/b/..']])(
    'has no links out of the folder: %s',
    async (link) => {
      await expect(read({ 'a/b': '', l: link })).rejects.toMatchObject({ code: 'LINK_OUTSIDE' })
      expect(await pathsOf({ 'a/b': '', l: link, '.dockerignore': 'l' })).not.toContain('l')
    },
  )

  it('has no links that leave by way of another link', async () => {
    const folder = await folderWith({
      'in/Dockerfile': '',
      'in/top/x': '',
      x: '',
      'in/a/b/c/d': '->../../../top',
    })
    const context = () => readContext({ folder: join(folder, 'in'), dockerfile: 'Dockerfile', signal })
    expect((await context()).files).toHaveLength(3)
    await symlink('d/../../x', join(folder, 'in/a/b/c/l'))
    await expect(context()).rejects.toThrow('a/b/c/l -> d/../../x')
  })

  it('has no pipes', async () => {
    const folder = await folderWith({ Dockerfile: '' })
    await run('mkfifo', [join(folder, 'pipe')])
    const context = await readContext({ folder, dockerfile: 'Dockerfile', signal })
    expect(context.special).toEqual(['pipe'])
    expect(context.files).toHaveLength(1)
  })
})

describe('what cannot be sent', () => {
  it('has no build file', async () => {
    const missing = read({}, 'docker/Dockerfile')
    await expect(missing).rejects.toThrow(/There is no docker\/Dockerfile in .*--dockerfile/)
    await expect(read({ 'x/y': '' }, 'x')).rejects.toMatchObject({ code: 'DOCKERFILE_MISSING' })
    await expect(read({ '.env': '' }, '.env')).rejects.toMatchObject({ code: 'DOCKERFILE_MISSING' })
  })

  it('is too large, and is told by its largest files', async () => {
    const folder = await folderWith({
      Dockerfile: '',
      'a/big.bin': 'x'.repeat(9000),
      small: 'x'.repeat(2000),
    })
    const context = readContext({ folder, dockerfile: 'Dockerfile', signal, maxBytes: 10_000 })
    await expect(context).rejects.toThrow(
      'The context has 11 KB, and 9.8 KB is the most. Its largest files:\n     8.8 KB  a/big.bin\n',
    )
  })

  it('has too many files, and is told where they are', async () => {
    const folder = await folderWith({ Dockerfile: '', 'a/1': '', 'a/2': '', 'b/c/3': '' })
    const context = readContext({ folder, dockerfile: 'Dockerfile', signal, maxFiles: 3 })
    await expect(context).rejects.toThrow(
      'The context has 4 files, and 3 is the most. Most of them are in:\n          2  a/\n          1  b/\n',
    )
  })

  it('has far too many files, and not all of them are looked at', async () => {
    const files = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`a/${index}`, '']))
    const folder = await folderWith({ Dockerfile: '', ...files, 'b/x': '' })
    const context = readContext({ folder, dockerfile: 'Dockerfile', signal, maxFiles: 3 })
    await expect(context).rejects.toThrow('The context has more than 12 files, and 3 is the most.')
  })

  it.each([
    ['control characters', { 'a\u0007b': '' }, '  "a\\u0007b" has control characters\n'],
    ['a folder with them', { 'a\u001b[31m/b': '' }, '  "a\\u001b[31m/b" has control characters\n'],
    [
      'too long a path',
      { [`${'a-name-of-20-letters/'.repeat(48)}and-17-characters`]: '' },
      'has 1025 characters, and 1024 is the most\n',
    ],
    ['too many parts', { [`${'d/'.repeat(100)}x`]: '' }, 'has 101 parts, and 100 is the most\n'],
    [
      'a link to a strange path',
      { l: '->a\u0007' },
      '"l" is a link to "a\\u0007", which is no path of plain text',
    ],
  ])('has names that no cloud takes: %s', async (_, tree, message) => {
    await expect(read(tree)).rejects.toThrow(message)
    await expect(read(tree)).rejects.toMatchObject({ code: 'NAME_INVALID' })
    expect(await pathsOf({ ...tree, '.dockerignore': '*\n' })).toEqual(['.dockerignore', 'Dockerfile'])
  })

  it('may have names that are just not too long', async () => {
    const long = `${'long-name/'.repeat(98)}${'n'.repeat(44)}`
    expect(long).toHaveLength(1024)
    expect(await pathsOf({ [long]: '', [`${'d/'.repeat(99)}x`]: '', '\ufffd': '' })).toHaveLength(4)
  })

  it.skipIf(process.platform !== 'linux')('has names that are not UTF-8', async () => {
    const folder = await folderWith({ Dockerfile: '', real: '' })
    const strange = (name: string) => Buffer.concat([Buffer.from(`${folder}/${name}`), Buffer.from([0xff])])
    await writeFile(strange('file'), '')
    await mkdir(strange('folder'))
    await symlink(Buffer.from([0xff]), join(folder, 'link'))
    const context = readContext({ folder, dockerfile: 'Dockerfile', signal })
    await expect(context).rejects.toMatchObject({ code: 'NAME_INVALID' })
    await expect(context).rejects.toThrow(
      '  "file\ufffd" is not UTF-8\n  "folder\ufffd" is not UTF-8\n  "link" is a link to "\ufffd",',
    )
  })

  it('has a wrong ignore file', async () => {
    await expect(read({ '.dockerignore': 'a\n[\n' })).rejects.toThrow('.dockerignore, line 2')
  })
})

describe('the hash', () => {
  it('is that of the canonical manifest', async () => {
    const context = await read({ 'a.py': 'x' })
    expect(context.hash).toBe(sha256(contextManifest(context.files)))
    expect(context.bytes).toBe(8)
  })

  it('does not know times, but contents, names and whether a file can be run', async () => {
    const folder = await folderWith({ Dockerfile: '', 'a.py': 'x' })
    const hash = async () => (await readContext({ folder, dockerfile: 'Dockerfile', signal })).hash
    const before = await hash()
    await utimes(join(folder, 'a.py'), 1, 1)
    expect(await hash()).toBe(before)
    await writeFile(join(folder, 'a.py'), 'y')
    expect(await hash()).not.toBe(before)
    expect((await read({ 'b.py': 'x' })).hash).not.toBe((await read({ 'a.py': 'x' })).hash)
    expect((await read({ 'a.py': '#!' })).hash).not.toBe((await read({ 'a.py': '!#' })).hash)
  })
})

describe('the archive', () => {
  const long = `${'deep/'.repeat(30)}${'n'.repeat(120)}.txt`

  it('holds what is said, and is the same every time', async () => {
    const big = randomBytes(3_000_000)
    const tree = {
      'a/b.py': 'print()',
      'run.sh': '#!/bin/sh',
      l: '->a/b.py',
      'grün ☺': 'x',
      [long]: 'y',
      big,
      empty: '',
    }
    const context = await read(tree)
    const packed = await packContext(context, signal)
    const bytes = await readFile(packed.path)
    expect(bytes.length).toBe(packed.bytes)
    const entries = await unpack(bytes)
    expect(entries.map(({ name }) => name)).toEqual(context.files.map(({ path }) => path))
    expect(entries.find(({ name }) => name === 'l')).toMatchObject({
      type: 'symlink',
      linkname: 'a/b.py',
      size: 0,
    })
    expect(entries.find(({ name }) => name === 'run.sh')).toMatchObject({ mode: 0o755, uid: 0, gid: 0 })
    for (const file of context.files) {
      const found = entries.find(({ name }) => name === file.path)
      expect(file.target === undefined ? sha256(found?.content ?? '') : file.digest).toBe(file.digest)
    }
    const again = await packContext(await readContext({ ...context, signal }), signal)
    expect(sha256(await readFile(again.path))).toBe(sha256(bytes))
    await Promise.all([packed.close(), again.close()])
    await expect(readFile(packed.path)).rejects.toThrow('ENOENT')
  })

  it('is what tar understands', async () => {
    const context = await read({ 'a/b.py': 'print()', l: '->a/b.py', [long]: 'y' })
    const packed = await packContext(context, signal)
    const { stdout } = await run('tar', ['tzf', packed.path])
    expect(stdout.trim().split('\n')).toEqual(context.files.map(({ path }) => path))
    await packed.close()
  })

  it.each([
    ['grew', (file: string) => appendFile(file, 'more'), 'CHANGED'],
    ['shrank', (file: string) => writeFile(file, 'x'), 'CHANGED'],
    ['changed', (file: string) => writeFile(file, 'X'.repeat(200_000)), 'CHANGED'],
    ['went away', (file: string) => rm(file), 'UNREADABLE'],
  ])('is not made of a file that %s meanwhile', async (_, change, code) => {
    const context = await read({ a: 'x'.repeat(200_000), b: 'y' })
    await change(join(context.folder, 'a'))
    const before = await leftovers()
    await expect(packContext(context, signal)).rejects.toMatchObject({ code })
    expect(await leftovers()).toEqual(before)
  })

  it('is given up when nobody wants it any more', async () => {
    const context = await read({ a: randomBytes(5_000_000) })
    const stop = new AbortController()
    const packing = packContext(context, stop.signal)
    setImmediate(() => stop.abort())
    await expect(packing).rejects.toMatchObject({ name: 'AbortError' })
  })
})

async function leftovers(): Promise<readonly string[]> {
  return (await readdir(tmpdir())).filter((name) => name.startsWith('botcli-context-')).toSorted()
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex')
}

interface Unpacked {
  readonly name: string
  readonly type: string
  readonly mode: number
  readonly content: Uint8Array
}

async function unpack(bytes: Uint8Array): Promise<readonly Unpacked[]> {
  const tar = extract()
  tar.end(gunzipSync(bytes))
  const entries: Unpacked[] = []
  for await (const entry of tar) {
    const parts: Uint8Array[] = []
    for await (const part of entry) parts.push(part as Uint8Array)
    entries.push({ ...entry.header, content: Buffer.concat(parts) })
  }
  return entries
}
