import { afterEach, expect, it } from 'vitest'
import { CloudFixture, type FixtureOptions, until } from '../testing/cloud-fixture.ts'

let cloud: CloudFixture
afterEach(() => cloud.close())

async function start(builds: object, more: FixtureOptions = {}): Promise<void> {
  cloud = await CloudFixture.start({ config: { builds }, ...more })
}

/** A build that goes on until a file of its name is there. */
const waiting = (name: string) => ({
  Dockerfile: `RUN while [ ! -e ${cloud.folder}/${name} ]; do sleep 0.02; done\n`,
})
const free = async (name: string) => {
  const { writeFile } = await import('node:fs/promises')
  await writeFile(`${cloud.folder}/${name}`, '')
}
const status = async (id: string, key?: string) => (await cloud.record(id, key)).status

it('does as many builds at a time as it may, of all and of each organization', async () => {
  await start({ concurrency: 3, perOrganization: 2 })
  const other = (await cloud.addOrganization()).privateKey
  const mine: string[] = []
  for (const name of ['a', 'b', 'c']) mine.push((await cloud.build(waiting(name))).build.id)
  await until(async () => (await status(mine[1] ?? '')) === 'building', 'two to run')
  // There is room for a third one, but not of this organization.
  const theirs = (await cloud.build(waiting('d'), {}, other)).build.id
  await until(async () => (await status(theirs, other)) === 'building', 'that of the other to run')
  expect(await Promise.all(mine.map((id) => status(id)))).toEqual(['building', 'building', 'pending'])
  expect(cloud.cloud.builds).toBe(3)
  await free('a')
  await until(async () => (await status(mine[2] ?? '')) === 'building', 'the third to run')
  expect(await status(mine[0] ?? '')).toBe('success')
  for (const name of ['b', 'c', 'd']) await free(name)
  for (const id of mine) expect(await cloud.ended(id)).toMatchObject({ status: 'success' })
})

it('serves organizations in turn, however many builds one of them has', async () => {
  await start({ concurrency: 1, perOrganization: 1 })
  const other = (await cloud.addOrganization()).privateKey
  const many: string[] = []
  for (const name of ['a', 'b', 'c', 'd']) many.push((await cloud.build(waiting(name))).build.id)
  const one = (await cloud.build(waiting('e'), {}, other)).build.id
  await free('a')
  await until(async () => (await status(one, other)) === 'building', 'the one to run')
  expect(await Promise.all(many.map((id) => status(id)))).toEqual([
    'success',
    'pending',
    'pending',
    'pending',
  ])
  for (const name of ['b', 'c', 'd', 'e']) await free(name)
  for (const id of many) await cloud.ended(id)
})

it('refuses more than may wait, and says when to come back', async () => {
  await start({ concurrency: 1, maxPending: 1 })
  const running = (await cloud.build(waiting('a'))).build.id
  await until(async () => (await status(running)) === 'building', 'the first to run')
  await cloud.build(waiting('b'))
  const uploadId = await cloud.upload(waiting('c'))
  const refused = await cloud.send('POST', '/v1/builds', { uploadId, region: 'local' })
  expect(refused).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  for (const name of ['a', 'b']) await free(name)
})

it('ends a build whose builder does not stop, and keeps nothing of what it makes later', async () => {
  let say = (_: string): void => {}
  let finish = (): void => {}
  const removed: string[] = []
  const deaf = {
    name: 'deaf 1',
    build: async (_: unknown, output: { say(line: string): void }) => {
      say = (line) => output.say(line)
      output.say('begun')
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return { ok: true as const, imageUri: 'much too late', imageSizeBytes: 1, bases: [] }
    },
    cleanUp: async () => {},
    isFresh: async () => true,
    remove: async (uri: string) => void removed.push(uri),
  }
  await start({}, { builders: [{ kind: 'native', probe: async () => deaf }], builderStopMs: 20 })
  const cancelled = await cloud.build({ Dockerfile: 'x\n' })
  await until(async () => (await cloud.logs(cancelled.build.id)).includes('begun'), 'it to run')
  await cloud.request(`/v1/builds/${cancelled.build.id}/cancel`, { method: 'POST' })
  const end = await cloud.ended(cancelled.build.id)
  expect(end).toMatchObject({ status: 'failed', failure: { code: 'cancelled' } })
  const lines = await cloud.logs(cancelled.build.id)
  say('after the end')
  finish()
  await until(() => removed.length > 0, 'what it made to be removed')
  expect(removed).toEqual(['much too late'])
  expect(await cloud.logs(cancelled.build.id)).toEqual(lines)
  expect(await cloud.record(cancelled.build.id)).toEqual(end)

  // Nor does it keep the cloud from stopping.
  const stopped = await cloud.build({ Dockerfile: 'y\n' })
  await until(async () => (await cloud.logs(stopped.build.id)).includes('begun'), 'the second to run')
  await cloud.restart()
  expect(await cloud.record(stopped.build.id)).toMatchObject({ failure: { code: 'builder_lost' } })
})

it('keeps nothing that was made a moment after the cancel, and takes no more lines of it', async () => {
  let say = (_: string): void => {}
  const stubborn = {
    name: 'stubborn 1',
    build: async (_: unknown, output: { say(line: string): void }, signal: AbortSignal) => {
      say = (line) => output.say(line)
      output.say('begun')
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { ok: true as const, imageUri: 'too late', imageSizeBytes: 1, bases: [] }
    },
    removed: [] as string[],
    cleanUp: async () => {},
    isFresh: async () => true,
    remove: async (uri: string) => void stubborn.removed.push(uri),
  }
  await start({}, { builders: [{ kind: 'native', probe: async () => stubborn }] })
  const { build } = await cloud.build({ Dockerfile: 'x\n' })
  await until(async () => (await cloud.logs(build.id)).includes('begun'), 'it to run')
  await cloud.request(`/v1/builds/${build.id}`, { method: 'DELETE' })
  // What it made a moment too late is not kept.
  expect(await cloud.record(build.id)).toMatchObject({
    status: 'failed',
    imageUri: null,
    failure: { code: 'cancelled' },
  })
  expect(stubborn.removed).toEqual(['too late'])
  const lines = await cloud.logs(build.id)
  say('after the end')
  expect(await cloud.logs(build.id)).toEqual(lines)
})
