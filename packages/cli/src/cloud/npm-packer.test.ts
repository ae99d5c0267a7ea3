import { mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ownPackages } from '../own-packages.ts'
import { ownVersion } from '../version.ts'
import { npmPacker } from './npm-packer.ts'

const NAMES = ['audio', 'bot', 'client', 'cloud', 'media', 'protocol', 'runner', 'scaffold']
const never = new AbortController().signal

describe('own packages', () => {
  it('are this one and all that it needs, directly or not', async () => {
    const names = (await ownPackages()).map(({ name }) => name)
    expect(names.toSorted()).toEqual([...NAMES.map((name) => `@botcli/${name}`), 'botcli'])
  })
})

describe('packing', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botcli-pack-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  it('makes a package of each, without a network and a home', async () => {
    const env = { PATH: process.env.PATH, HOME: '/nowhere', npm_config_registry: 'http://127.0.0.1:9/' }
    await npmPacker(env).pack(folder, never)
    const packed = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
    const version = ownVersion()
    const expected = [`botcli-${version}.tgz`, ...NAMES.map((name) => `botcli-${name}-${version}.tgz`)]
    expect(packed.toSorted()).toEqual(expected.toSorted())
  })

  it('has another stamp once a package is another one', async () => {
    const { stamp } = npmPacker(process.env)
    const before = await stamp()
    expect(await stamp()).toBe(before)
    const file = fileURLToPath(new URL('../../bin/botcli.js', import.meta.url))
    const { atime, mtime } = await stat(file)
    await utimes(file, atime, new Date(mtime.getTime() + 1000))
    try {
      expect(await stamp()).not.toBe(before)
    } finally {
      await utimes(file, atime, mtime)
    }
  })

  it('says why it was not possible', async () => {
    const gone = npmPacker(process.env).pack(join(folder, 'nowhere'), never)
    await expect(gone).rejects.toThrow(/^npm pack: .*ENOENT/)
  })

  it('ends when it is told to', async () => {
    const controller = new AbortController()
    const packing = npmPacker(process.env).pack(folder, controller.signal)
    controller.abort()
    await expect(packing).rejects.toThrow(/^npm pack: .*abort/)
  })
})
