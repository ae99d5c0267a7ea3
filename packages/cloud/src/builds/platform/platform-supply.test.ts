import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { CloudFixture } from '../../testing/cloud-fixture.ts'
import type { PlatformPacker } from './platform-packer.ts'

const LOOK = 'RUN cat botcli*.tgz; ls -l | cut -c1-10,40-\n'
const ASKING = `FROM x\nCOPY bot.ts botcli*.tgz ./\n${LOOK}`

/** Packs texts, and counts how often. */
class CountingPacker implements PlatformPacker {
  readonly version = '1.2.3'
  content = 'first'
  packed = 0
  fault: Error | undefined
  /** What holds packing up, until it is told to stop. */
  hang = false

  async stamp(): Promise<string> {
    return this.content
  }

  async pack(folder: string, signal: AbortSignal): Promise<void> {
    this.packed += 1
    await writeFile(join(folder, 'botcli-1.2.3.tgz'), `the ${this.content} botcli\n`)
    if (this.fault) throw this.fault
    if (this.hang)
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    await mkdir(join(folder, 'cache'))
    await writeFile(join(folder, 'botcli-runner-1.2.3.tgz'), `the ${this.content} runner\n`)
  }
}

describe('the platform in images', () => {
  const clouds: CloudFixture[] = []
  const start = async (platform: PlatformPacker, config?: object): Promise<CloudFixture> => {
    const cloud = await CloudFixture.start({ platform, ...(config && { config }) })
    clouds.push(cloud)
    return cloud
  }
  const built = async (cloud: CloudFixture, files: Readonly<Record<string, string>>): Promise<string> => {
    const { build } = await cloud.build({ 'bot.ts': crypto.randomUUID(), ...files })
    await cloud.ended(build.id)
    return (await cloud.logs(build.id)).join('\n')
  }
  afterEach(async () => {
    for (const cloud of clouds.splice(0)) await cloud.close()
  })

  it('comes from the cloud where the container build file asks for it, and is packed once', async () => {
    const packer = new CountingPacker()
    const cloud = await start(packer)
    expect(packer.packed).toBe(0)
    const first = await built(cloud, { Dockerfile: ASKING })
    expect(first).toContain(
      'Packing botcli 1.2.3, once for all builds…\nbotcli 1.2.3 comes from this cloud\n',
    )
    expect(first).toContain('the first botcli\nthe first runner\n')
    const logs = await Promise.all([1, 2, 3].map(() => built(cloud, { Dockerfile: ASKING })))
    await cloud.restart()
    for (const log of [...logs, await built(cloud, { Dockerfile: ASKING })]) {
      expect(log).toContain('\nbotcli 1.2.3 comes from this cloud\n')
      expect(log).toContain('the first botcli\nthe first runner\n')
      expect(log).not.toContain('Packing')
    }
    expect(packer.packed).toBe(1)
  })

  it('is packed again when other packages are installed, and only the last ones are kept', async () => {
    const packer = new CountingPacker()
    const cloud = await start(packer)
    await mkdir(join(cloud.folder, 'platform/0.9.0'), { recursive: true })
    await built(cloud, { Dockerfile: ASKING })
    packer.content = 'second'
    expect(await built(cloud, { Dockerfile: ASKING })).toContain('the second botcli\nthe second runner\n')
    expect(packer.packed).toBe(2)
    expect(await readdir(join(cloud.folder, 'platform'))).toEqual(['1.2.3'])
    const files = ['botcli-1.2.3.tgz', 'botcli-runner-1.2.3.tgz', 'stamp']
    expect((await readdir(join(cloud.folder, 'platform/1.2.3'))).toSorted()).toEqual(files)
  })

  it('does not change what others get when a build writes into its context', async () => {
    const cloud = await start(new CountingPacker())
    await built(cloud, { Dockerfile: `${ASKING}RUN echo changed > botcli-1.2.3.tgz\n` })
    expect(await built(cloud, { Dockerfile: ASKING })).toContain('the first botcli\n')
  })

  it('is no part of what tells builds apart', async () => {
    const cloud = await start(new CountingPacker())
    const files = { Dockerfile: ASKING, 'bot.ts': '' }
    const { build } = await cloud.build(files)
    await cloud.ended(build.id)
    const again = await cloud.build(files)
    expect(again).toMatchObject({ cached: true, build: { id: build.id, contextHash: build.contextHash } })
  })

  it.each([
    ['the context has packages of its own', { Dockerfile: ASKING, 'botcli-0.0.1.tgz': 'my own\n' }],
    ['the file does not ask for them', { Dockerfile: `FROM x\n# COPY botcli*.tgz ./\n${LOOK}` }],
    ['another stage has them', { Dockerfile: `FROM x\nCOPY --from=y botcli*.tgz ./\n${LOOK}` }],
    ['there is no such file', { 'Dockerfile.other': ASKING }],
  ])('stays out where %s', async (_, files) => {
    const packer = new CountingPacker()
    const log = await built(await start(packer), files)
    expect(log).not.toContain('botcli 1.2.3')
    expect(packer.packed).toBe(0)
  })

  it.each(['COPY ./botcli*.tgz /x/', 'COPY ["botcli*.tgz", "/x/"]', 'ADD --chown=1:1 /botcli*.tgz /x/'])(
    'comes for %s',
    async (line) => {
      const log = await built(await start(new CountingPacker()), { Dockerfile: `FROM x\n${line}\n${LOOK}` })
      expect(log).toContain('the first botcli\n')
    },
  )

  it('is not needed by a builder of bundles', async () => {
    const packer = new CountingPacker()
    const cloud = await start(packer)
    cloud.builder.makesBundles = true
    expect(await built(cloud, { Dockerfile: ASKING })).not.toContain('botcli 1.2.3')
    expect(packer.packed).toBe(0)
  })

  it('may be missing: then the log warns, the build goes on, and the next one tries again', async () => {
    const packer = new CountingPacker()
    packer.fault = new Error('npm was not found')
    const cloud = await start(packer)
    const { build } = await cloud.build({
      Dockerfile: ASKING.replace('cat botcli*.tgz', 'true'),
      'bot.ts': '',
    })
    expect(await cloud.ended(build.id)).toMatchObject({ status: 'success' })
    const log = (await cloud.logs(build.id)).join('\n')
    expect(log).toContain(
      'Warning: botcli 1.2.3 could not be packed, so npm has to have it: npm was not found\n',
    )
    expect(log).not.toMatch(/botcli.*\.tgz$/m)
    expect(await readdir(join(cloud.folder, 'platform'))).toEqual([])
    packer.fault = undefined
    expect(await built(cloud, { Dockerfile: ASKING })).toContain('botcli 1.2.3 comes from this cloud')
  })

  it('is not waited for by a build whose time is up', async () => {
    const packer = new CountingPacker()
    packer.hang = true
    const cloud = await start(packer, { builds: { seconds: 1 } })
    const { build } = await cloud.build({ Dockerfile: ASKING, 'bot.ts': '' })
    expect(await cloud.ended(build.id)).toMatchObject({ status: 'timeout' })
    expect((await cloud.logs(build.id)).join('\n')).not.toContain('Warning')
    packer.hang = false
    expect(await built(cloud, { Dockerfile: ASKING })).toContain('botcli 1.2.3 comes from this cloud')
  })
})
