import { buildResponse } from '@botcli/protocol/cloud'
import { afterEach, expect, it } from 'vitest'
import type { Builder } from '../builders/builder.ts'
import { type Answer, CloudFixture, until } from '../testing/cloud-fixture.ts'

let cloud: CloudFixture
afterEach(() => cloud.close())

const cancel = (id: string): Promise<Answer> => cloud.request(`/v1/builds/${id}/cancel`, { method: 'POST' })

it('cancels a build that runs, and gives its end', async () => {
  cloud = await CloudFixture.start()
  const { build } = await cloud.build({ Dockerfile: 'RUN echo begun; sleep 600\n' })
  await until(async () => (await cloud.logs(build.id)).includes('begun'), 'the build to run')
  const { status, body } = await cancel(build.id)
  expect(status).toBe(200)
  expect(buildResponse.parse(body).build).toMatchObject({ status: 'failed', failure: { code: 'cancelled' } })
  expect(await cloud.logs(build.id)).toContain('Failed: The build was cancelled.')
})

it('leaves a build that is over as it is, and says how it stands', async () => {
  cloud = await CloudFixture.start()
  const { build } = await cloud.build({ Dockerfile: 'RUN echo done\n' })
  const record = await cloud.ended(build.id)
  for (let count = 0; count < 2; count += 1) {
    expect(await cancel(build.id)).toMatchObject({
      status: 409,
      body: { code: 'CONFLICT', error: expect.stringContaining('its status is success') },
    })
  }
  expect(await cloud.record(build.id)).toEqual(record)
  expect(await cloud.logs(build.id)).toContain('done')
})

it('takes no body, and knows wrong ids', async () => {
  cloud = await CloudFixture.start()
  expect((await cancel('00000000-0000-4000-8000-000000000000')).status).toBe(404)
  expect((await cancel('x')).status).toBe(400)
})

it('cancels a build that waits, once, however many ask at the same time', async () => {
  cloud = await CloudFixture.start({ config: { builds: { concurrency: 1 } } })
  const first = await cloud.build({ Dockerfile: 'RUN sleep 600\n' })
  await until(async () => (await cloud.record(first.build.id)).status === 'building', 'the first to run')
  const { build } = await cloud.build({ Dockerfile: 'RUN echo never\n' })
  const answers = await Promise.all(Array.from({ length: 5 }, () => cancel(build.id)))
  for (const { status, body } of answers) {
    expect([200, 409]).toContain(status)
    if (status === 409) expect(body).toMatchObject({ error: expect.stringContaining('status is failed') })
  }
  expect(answers.some(({ status }) => status === 200)).toBe(true)
  expect(await cloud.record(build.id)).toMatchObject({ startedAt: null, failure: { code: 'cancelled' } })
  const told = (await cloud.logs(build.id)).filter((line) => line.startsWith('Failed:'))
  expect(told).toEqual(['Failed: The build was cancelled.'])
})

it('never removes a build that ends in the same moment, and tells the outcome that holds', async () => {
  let release = (): void => {}
  const builder: Builder = {
    name: 'released 1',
    async build(input, output, signal) {
      output.say('begun')
      await new Promise<void>((resolve) => {
        release = resolve
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
      if (signal.aborted) throw signal.reason
      return { ok: true, imageUri: input.imageName, imageSizeBytes: 1, bases: [] }
    },
    cleanUp: async () => {},
    isFresh: async () => true,
    remove: async () => {},
  }
  cloud = await CloudFixture.start({ builders: [{ kind: 'native', probe: async () => builder }] })
  // The two are moved past one another, so that they meet at many points.
  for (let step = -8; step <= 8; step += 1) {
    const { build } = await cloud.build({ Dockerfile: `${step}\n` })
    await until(async () => (await cloud.logs(build.id)).includes('begun'), 'the build to run')
    const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)))
    const [answer] = await Promise.all([
      wait(step).then(() => cancel(build.id)),
      wait(-step).then(() => release()),
    ])
    const record = await cloud.ended(build.id)
    const lines = await cloud.logs(build.id)
    if (answer.status === 200) {
      expect(answer.body).toEqual({ build: record })
      expect(record.failure?.code).toBe('cancelled')
      expect(lines).toContain('Failed: The build was cancelled.')
    } else {
      expect(answer).toMatchObject({ status: 409, body: { error: expect.stringContaining('success') } })
      // The name says where it is, so that no engine looks for it at a public registry.
      const imageUri = `localhost/botcli/${cloud.keys.organizationId}:${build.id}`
      expect(record).toMatchObject({ status: 'success', imageUri })
      expect(lines.at(-1)).toMatch(/^Built/)
    }
  }
})
