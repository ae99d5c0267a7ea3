import { join } from 'node:path'
import type { DeploymentListResponse } from '@botcli/protocol/cloud'
import { afterEach, expect, it } from 'vitest'
import { openSecretBox } from '../secrets/key-file.ts'
import { SecretService } from '../secrets/secret-service.ts'
import { SettingsService } from '../settings/settings-service.ts'
import { SqliteStore } from '../store/sqlite-store.ts'
import { AgentHouse } from '../testing/agent-house.ts'
import { type Answer, type FixtureOptions, until } from '../testing/cloud-fixture.ts'
import { NO_USERS } from '../testing/no-users.ts'

const BOT = 'registry.test/bot:1'
const BROKEN = { fails: { code: 1, output: 'the key is no good\n' } }
const ONE = { secretSet: 'keys', autoScaling: { minAgents: 1, maxAgents: 3 } }

let house: AgentHouse
const open = async (options: FixtureOptions = {}): Promise<void> => {
  house = await AgentHouse.open({ config: { agents: { idleSeconds: 0 } }, ...options })
}
afterEach(() => house.close())

const put = (values: Readonly<Record<string, string>>, set = 'keys'): Promise<Answer> =>
  house.fixture.send('PUT', `/v1/secrets/${set}`, {
    secrets: Object.entries(values).map(([secretKey, secretValue]) => ({ secretKey, secretValue })),
  })
const putPull = (token: string): Promise<Answer> =>
  house.fixture.send('PUT', '/v1/secrets/pull', {
    ...{ isImagePullSecret: true, host: 'registry.test' },
    secretValue: Buffer.from(`me:${token}`).toString('base64'),
  })
const running = () => house.engine.running.map(({ spec }) => spec.env.KEY)
const deployments = async () => {
  const { body } = await house.fixture.request('/v1/agents/echo/deployments')
  return (body as DeploymentListResponse).deployments.map(({ image, phase }) => [image, phase])
}
const logged = (start: string) =>
  until(
    async () => (await house.logs('echo')).find(({ log }) => log.startsWith(start))?.log,
    `a line that starts with ${start}`,
  )

it('instances have the secrets that their deployment was made with, whatever came after', async () => {
  await open()
  await put({ KEY: 'good-value', OTHER: 'old-value' })
  await house.deployed('echo', ONE)
  house.engine.scripts.set(BOT, BROKEN)
  await put({ KEY: 'bad-value', NEW: 'new-value' })
  await house.phase('echo', 'Failed')
  await house.fixture.request('/v1/secrets/keys/OTHER', { method: 'DELETE' })
  await until(async () => (await house.agent('echo')).deployment.number === 3, 'a third deployment')
  await house.phase('echo', 'Failed')
  house.engine.scripts.delete(BOT)
  for (const again of [false, true]) {
    if (again) await house.fixture.restart()
    house.engine.running[0]?.crash({ code: 1 })
    const next = await until(() => house.engine.running[0], 'the next instance')
    expect(next.spec.env).toEqual({ KEY: 'good-value', OTHER: 'old-value' })
    await until(async () => (await house.agent('echo')).activeDeploymentReady, 'it to be ready')
  }
  expect(await deployments()).toMatchObject([
    [BOT, 'Failed'],
    [BOT, 'Failed'],
    [BOT, 'Active'],
  ])
  // Going back is to what ran, with the secrets of today.
  await house.fixture.send('POST', '/v1/agents/echo/rollback', {})
  expect(await house.phase('echo', 'Active')).toMatchObject({
    deployment: { number: 4, reason: 'rollback' },
  })
  await until(() => house.engine.running.length === 1, 'the one before to be gone')
  expect(house.engine.running[0]?.spec.env).toEqual({ KEY: 'bad-value', NEW: 'new-value' })
  expect((await house.agent('echo')).deployment).not.toHaveProperty('secretsVersion')
})

it('images are fetched with the credentials that their deployment was made with; others make a new one', async () => {
  await open()
  await putPull('first-token')
  await house.deployed('echo', { autoScaling: ONE.autoScaling, imagePullSecretSet: 'pull' })
  const tokens = () =>
    house.engine.running.map(({ spec: { artifact } }) =>
      artifact.kind === 'image'
        ? Buffer.from(artifact.foreign?.credentials?.auth ?? '', 'base64').toString()
        : '',
    )
  house.engine.scripts.set(BOT, BROKEN)
  await putPull('other-token')
  expect(await house.phase('echo', 'Failed')).toMatchObject({ deployment: { number: 2, reason: 'secrets' } })
  house.engine.scripts.delete(BOT)
  house.engine.running[0]?.crash({ code: 1 })
  await until(() => house.engine.running.length === 1, 'the next instance')
  expect(tokens()).toEqual(['me:first-token'])
  house.engine.running[0]?.say('leak first-token me:other-token end')
  expect(await logged('leak')).toBe('leak *** *** end')
  await putPull('third-token')
  await house.phase('echo', 'Active')
  await until(() => house.engine.running.length === 1, 'the one before to be gone')
  expect(tokens()).toEqual(['me:third-token'])
})

it('what takes the sessions gets new secrets, not what failed since', async () => {
  await open()
  await put({ KEY: 'first-value' })
  await house.deployed('echo', ONE)
  house.engine.scripts.set('registry.test/broken:1', BROKEN)
  await house.update('echo', { image: 'registry.test/broken:1' })
  await house.phase('echo', 'Failed')
  await put({ KEY: 'other-value' })
  expect(await house.phase('echo', 'Active')).toMatchObject({
    deployment: { number: 3, reason: 'secrets', image: BOT },
  })
  await until(() => house.engine.running.length === 1, 'the one before to be gone')
  expect(running()).toEqual(['other-value'])
})

it('what takes the sessions gets new secrets also when something else that was to have them failed', async () => {
  await open({ sweepMs: 50 })
  await put({ KEY: 'first-value' })
  await house.deployed('echo', ONE)
  house.engine.scripts.set(BOT, { waits: true })
  house.engine.scripts.set('registry.test/broken:1', BROKEN)
  await put({ KEY: 'other-value' })
  await house.phase('echo', 'Validating')
  await house.update('echo', { image: 'registry.test/broken:1' })
  house.engine.scripts.delete(BOT)
  await until(async () => (await house.agent('echo')).deployment.number === 4, 'a fourth deployment')
  await house.phase('echo', 'Active')
  await until(() => house.engine.running.length === 1, 'the one before to be gone')
  expect(running()).toEqual(['other-value'])
  expect((await deployments()).slice(0, 3)).toEqual([
    [BOT, 'Active'],
    ['registry.test/broken:1', 'Failed'],
    [BOT, 'Failed'],
  ])
})

it('secrets with which a deployment has failed are not tried again by themselves', async () => {
  await open({ sweepMs: 50 })
  await put({ KEY: 'first-value' })
  await house.deployed('echo', ONE)
  house.engine.scripts.set(BOT, BROKEN)
  house.engine.scripts.set('registry.test/broken:1', BROKEN)
  await put({ KEY: 'bad-value' })
  await house.phase('echo', 'Failed')
  await house.update('echo', { image: 'registry.test/broken:1' })
  await house.phase('echo', 'Failed')
  await put({ KEY: 'bad-value' })
  await house.fixture.restart()
  expect((await house.agent('echo')).deployment.number).toBe(3)
  expect(running()).toEqual(['first-value'])
})

it('a first deployment that failed is tried again with the secrets that it lacked', async () => {
  await open()
  await put({ KEY: 'bad-value' })
  house.engine.scripts.set(BOT, BROKEN)
  await house.create('echo', ONE)
  await house.phase('echo', 'Failed')
  house.engine.scripts.delete(BOT)
  await put({ KEY: 'good-value' })
  await house.phase('echo', 'Active')
  expect(running()).toEqual(['good-value'])
})

it('new secrets reach agents whatever the clock says, and former ones stay out of their logs', async () => {
  let behind = 0
  await open({ clock: () => Date.now() - behind })
  await put({ KEY: 'first-value' })
  await house.deployed('echo', ONE)
  const { id, instance } = await house.session('echo')
  behind = 60_000
  await put({ KEY: 'other-value' })
  expect(await house.phase('echo', 'Active')).toMatchObject({ deployment: { number: 2 } })
  instance.say('leak first-value other-value end', id)
  expect(await logged('leak')).toBe('leak *** *** end')
})

it('new secrets that were stored when the cloud was killed reach agents when it is back', async () => {
  await open()
  await put({ KEY: 'first-value' })
  await house.deployed('echo', ONE)
  await house.fixture.cloud.close({ deadlineMs: 0 })
  const store = new SqliteStore(join(house.fixture.folder, 'cloud.db'))
  const secrets = new SecretService({
    ...{ store, users: NO_USERS, clock: () => 0 },
    box: openSecretBox(join(house.fixture.folder, 'secret.key'), false),
    settings: new SettingsService(store, [{ code: 'local', display_name: 'Here' }]),
  })
  const organizationId = house.fixture.keys.organizationId
  await secrets.put(organizationId, 'keys', { secrets: [{ secretKey: 'KEY', secretValue: 'other-value' }] })
  await store.close()
  await house.fixture.open()
  expect(await house.phase('echo', 'Active')).toMatchObject({ deployment: { number: 2, reason: 'secrets' } })
  await until(() => house.engine.running.length === 1, 'the one before to be gone')
  expect(running()).toEqual(['other-value'])
})

it('values stay out of logs while a bot has them, however often they were changed', async () => {
  await open()
  const many = (round: string) =>
    put(Object.fromEntries(Array.from({ length: 200 }, (_, n) => [`K${n}`, `value-${round}-${n}-secret`])))
  await many('a')
  await house.deployed('echo', ONE)
  const { id, instance } = await house.session('echo')
  for (const round of ['b', 'c', 'd', 'e']) {
    await many(round)
    await house.phase('echo', 'Active')
  }
  await house.fixture.restart()
  instance.say('leak value-a-7-secret value-e-7-secret end', id)
  expect(await logged('leak')).toBe('leak *** *** end')
}, 60_000)

it('more values than can be looked for are refused while bots have the former ones', async () => {
  await open()
  const large = (letter: string) =>
    put(Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`K${n}`, `${letter}${n}`.repeat(20_000)])))
  expect((await large('a')).status).toBe(202)
  await house.deployed('echo', ONE)
  const { id, instance } = await house.session('echo')
  expect((await large('b')).status).toBe(202)
  await house.phase('echo', 'Active')
  const again = await house.session('echo')
  const refused = await large('c')
  expect(refused).toMatchObject({ status: 409, body: { code: 'CONFLICT' } })
  expect(JSON.stringify(refused.body)).toContain('still have')
  expect((await house.agent('echo')).deployment.number).toBe(2)
  instance.endSession(id)
  await until(async () => (await deployments())[1]?.[1] === 'Retired', 'the first to be retired')
  expect((await large('c')).status).toBe(202)
  await house.phase('echo', 'Active')
  expect(again.instance.spec.env.K3).toBe('b3'.repeat(20_000))
}, 60_000)

it('a secret set that an agent begins to need is there, or the agent is refused', async () => {
  await open()
  await put({ KEY: 'a-value' })
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
  let isAsked = false
  let answer = (_: undefined) => {}
  house.engine.refusal = () => {
    isAsked = true
    return new Promise((resolve) => {
      answer = resolve
    })
  }
  const updated = house.update('echo', { secretSet: 'keys' })
  await until(() => isAsked, 'the engine to be asked')
  expect((await house.fixture.request('/v1/secrets/keys', { method: 'DELETE' })).status).toBe(200)
  answer(undefined)
  expect(await updated).toMatchObject({ status: 404, body: { code: 'DEPLOY-SECRET-NOT-FOUND' } })
  expect((await house.agent('echo')).deployment.number).toBe(1)
})
