import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync } from 'node:fs'
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { createGzip, gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CloudError } from '../../errors.ts'
import { packed, packedEntries } from '../../testing/cloud-fixture.ts'
import { readContext } from './read-context.ts'
import { unpackContext } from './unpack-context.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'botcli-context-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const read = (bytes: Uint8Array) => readContext(Readable.from([bytes]))
const unpack = (bytes: Uint8Array) => unpackContext(Readable.from([bytes]), join(folder, 'out'))
const refused = (named: string | RegExp, code = 'INVALID_REQUEST') =>
  expect.objectContaining({ code, message: expect.stringMatching(named) })

/** A header that says another size. */
function headerOf(size: number, archive: Buffer): Buffer {
  const header = Buffer.from(archive.subarray(0, 512))
  header.write(`${size.toString(8).padStart(11, '0')} `, 124)
  header.fill(' ', 148, 156)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

describe('a context', () => {
  it('is unpacked with its files, folders and links', async () => {
    const summary = await unpack(
      await packedEntries([
        [{ name: './' }],
        [{ name: './src/', type: 'directory' }],
        [{ name: './src/run.sh', mode: 0o700 }, '#!/bin/sh\n'],
        [{ name: 'deep/er/a.txt', mode: 0o4666 }, 'a'],
        [{ name: 'deep/link', type: 'symlink', linkname: '../src/run.sh' }],
        [{ name: 'empty/', type: 'directory' }],
        [{ name: '.env' }, 'SECRET=1'],
        [{ name: 'nothing' }, ''],
      ]),
    )
    const out = join(folder, 'out')
    expect((await readdir(out, { recursive: true })).toSorted()).toEqual(
      ['deep', 'deep/er', 'deep/er/a.txt', 'deep/link', 'empty', 'nothing', 'src', 'src/run.sh'].toSorted(),
    )
    expect(statSync(join(out, 'src/run.sh')).mode & 0o7777).toBe(0o755)
    expect(statSync(join(out, 'deep/er/a.txt')).mode & 0o7777).toBe(0o644)
    expect(readlinkSync(join(out, 'deep/link'))).toBe('../src/run.sh')
    expect(readFileSync(join(out, 'deep/link'), 'utf8')).toBe('#!/bin/sh\n')
    expect(summary).toMatchObject({ sizeBytes: 11, secretFiles: ['.env'] })
  })

  it('has the same hash in any order, with any times, owners and compression, and however it is read', async () => {
    const files = [
      [{ name: 'b', mode: 0o644 }, 'b'],
      [{ name: 'a/c', mode: 0o755 }, 'c'],
    ] as const
    const { hash } = await read(await packedEntries(files))
    const other = await packedEntries([
      [{ name: 'a/', type: 'directory' }],
      [{ name: './a/c', mode: 0o711 }, 'c'],
      [{ name: 'b', mode: 0o600 }, 'b'],
    ])
    expect((await read(other)).hash).toBe(hash)
    expect((await unpack(other)).hash).toBe(hash)
    const changed = await packedEntries([files[0], [{ name: 'a/c', mode: 0o644 }, 'c']])
    expect((await read(changed)).hash).not.toBe(hash)
  })

  it('is read as tar of the system packs it', async () => {
    const source = join(folder, 'source')
    const long = `${'long-'.repeat(20)}/${'name-'.repeat(30)}`
    await mkdir(join(source, 'a', 'ümlaut', ...long.split('/').slice(0, 1)), { recursive: true })
    await writeFile(join(source, 'a', 'ümlaut', long), 'x'.repeat(100_000))
    await symlink('ümlaut', join(source, 'a', 'link'))
    for (const format of ['gnu', 'pax', 'ustar']) {
      const paths = format === 'ustar' ? ['a/link'] : ['.']
      const bytes = execFileSync('tar', ['-cz', `--format=${format}`, '-C', source, ...paths])
      expect((await read(bytes)).sizeBytes).toBe(format === 'ustar' ? 0 : 100_000)
    }
  })

  it.each([
    ['/etc/passwd', 'outside'],
    ['../a', 'outside'],
    ['a/../../b', 'outside'],
    ['a/..', 'outside'],
    ['a\nb', 'control'],
    ['x/'.repeat(200), 'too long'],
    ['', 'twice'],
  ])('has no file at %j', async (name, named) => {
    await expect(read(await packedEntries([[{ name }, 'x']]))).rejects.toEqual(refused(named))
  })

  it.each([
    ['a', '/etc/passwd'],
    ['a', '..'],
    ['a', '../b'],
    ['a/b', '../../c'],
    ['a', 'b/../..'],
    // Inside of the context by its letters, but not if b is a link to the context itself.
    ['a', 'b/..'],
    ['a', ''],
  ])('has no link at %j to %j', async (name, linkname) => {
    const bytes = await packedEntries([[{ name, type: 'symlink', linkname }]])
    await expect(read(bytes)).rejects.toEqual(refused('out of the context'))
  })

  it.each(['link', 'character-device', 'block-device', 'fifo'])('has no %s', async (type) => {
    const bytes = await packedEntries([[{ name: 'a' }, 'x'], [{ name: 'b', type, linkname: 'a' }]])
    await expect(read(bytes)).rejects.toEqual(refused(`"b" is a ${type}`))
  })

  it('has nothing twice, and nothing inside of what is no folder', async () => {
    const link = { name: 'a', type: 'symlink', linkname: '.' }
    for (const [entries, named] of [
      [
        [
          [{ name: 'a' }, 'x'],
          [{ name: './a' }, 'y'],
        ],
        'twice',
      ],
      [[[link], [{ name: 'a' }, 'y']], 'twice'],
      [[[link], [{ name: 'a/b' }, 'y']], 'inside of "a", which is a link'],
      [[[{ name: 'a/b' }, 'y'], [link]], 'twice'],
      [
        [
          [{ name: 'a' }, 'x'],
          [{ name: 'a/b' }, 'y'],
        ],
        'which is a file',
      ],
      [[[link], [{ name: 'a/', type: 'directory' }]], 'twice'],
    ] as const) {
      await expect(unpack(await packedEntries(entries))).rejects.toEqual(refused(named))
      rmSync(join(folder, 'out'), { recursive: true, force: true })
    }
  })

  it('is not larger than it may be when it is unpacked', async () => {
    // Half a gigabyte of nothing is half a megabyte on the way.
    const size = 501 * 1024 * 1024
    const header = headerOf(size, gunzipSync(await packedEntries([[{ name: 'bomb' }, 'x']])))
    const zeros = Buffer.alloc(1024 * 1024)
    const bomb = function* (): Generator<Buffer> {
      yield header
      for (let sent = 0; sent < size; sent += zeros.length) yield zeros
    }
    const packing = Readable.from(bomb()).pipe(createGzip({ level: 1 }))
    await expect(readContext(packing)).rejects.toEqual(refused('500 MiB', 'PAYLOAD_TOO_LARGE'))
  })

  it('does not have more entries than it may', async () => {
    const entries = Array.from({ length: 50_001 }, (_, index) => [{ name: `f${index}` }, ''] as const)
    await expect(read(await packedEntries(entries))).rejects.toEqual(refused('50000', 'PAYLOAD_TOO_LARGE'))
  })

  it('is whole', async () => {
    const bytes = await packed({ a: 'x'.repeat(5000), b: 'y' })
    for (const wrong of [
      Buffer.alloc(0),
      Buffer.from('text'),
      gzipSync('text'),
      gzipSync('x'.repeat(2000)),
      bytes.subarray(0, bytes.length - 10),
      bytes.subarray(0, 30),
    ]) {
      await expect(read(wrong)).rejects.toEqual(refused('not a whole gzip'))
    }
  })

  it('is read or refused, whatever its bytes are', async () => {
    const good = await packed({ 'a/b': 'text', c: '-> a/b' })
    const raw = gunzipSync(good)
    const change = fc.array(fc.tuple(fc.nat(raw.length - 1), fc.nat(255)), { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(change, async (changes) => {
        const bytes = Buffer.from(raw)
        for (const [at, value] of changes) bytes[at] = value
        await read(gzipSync(bytes)).catch((error: unknown) => expect(error).toBeInstanceOf(CloudError))
      }),
      { numRuns: 200 },
    )
  })

  it('stops being unpacked on an abort', async () => {
    const abort = new AbortController()
    const bytes = await packed({ a: 'x'.repeat(100_000) })
    const source = Readable.from(
      (async function* () {
        yield bytes.subarray(0, 50)
        abort.abort(new Error('enough'))
        yield bytes.subarray(50)
      })(),
    )
    await expect(unpackContext(source, join(folder, 'out'), abort.signal)).rejects.toThrow('enough')
  })
})
