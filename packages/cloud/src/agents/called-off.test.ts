import { afterEach, describe, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'

const ONE = { autoScaling: { minAgents: 1, maxAgents: 1 } }
const SLOW = 'registry.test/slow:1'

let house: AgentHouse
afterEach(() => house.close())

/** Waits until so many images are being fetched. */
async function fetching(count: number): Promise<void> {
  await until(() => house.engine.fetching.length === count, `${count} fetches`)
}

describe('an image that is being fetched', () => {
  const open = async (maxInstances: number): Promise<void> => {
    house = await AgentHouse.open({ config: { agents: { maxInstances } } })
    house.engine.scripts.set(SLOW, { fetches: true })
  }

  it('is not fetched any more when its agent is removed, and its place is free', async () => {
    await open(1)
    await house.create('slow', { ...ONE, image: SLOW })
    await fetching(1)
    expect(await house.create('other', ONE)).toMatchObject({ status: 429 })
    await house.fixture.request('/v1/agents/slow', { method: 'DELETE' })
    await fetching(0)
    await house.deployed('other', ONE)
    expect(house.engine.running).toHaveLength(1)
  })

  it('is not fetched any more when a later deployment is made, which gets its place', async () => {
    await open(2)
    await house.deployed('echo', ONE)
    for (let deployment = 2; deployment < 5; deployment += 1) {
      await house.update('echo', { image: SLOW, maxSessionDuration: 60 * deployment })
      await fetching(1)
    }
    await house.update('echo', { image: 'registry.test/bot:2' })
    await house.phase('echo', 'Active')
    expect(house.engine.fetching).toEqual([])
    expect(await house.agent('echo')).toMatchObject({ deployment: { number: 5 } })
    await house.deployed('other', ONE)
  })

  it('gives its place back also when the engine takes long to end that', async () => {
    await open(1)
    const { start } = house.engine
    let fail = (): void => {}
    house.engine.start = () =>
      new Promise((_, reject) => {
        fail = () => reject(new Error('at last'))
      })
    await house.create('slow', ONE)
    await until(async () => (await house.agent('slow')).deployment.phase === 'Validating', 'the roll-out')
    house.engine.start = start
    await house.fixture.request('/v1/agents/slow', { method: 'DELETE' })
    await house.deployed('other', ONE)
    fail()
  })
})

describe('a cloud that ends while an image is being fetched', () => {
  const open = async (): Promise<void> => {
    house = await AgentHouse.open({ config: { agents: { stopSeconds: 1 } } })
    house.engine.scripts.set(SLOW, { fetches: true })
    await house.deployed('echo', ONE)
    await house.session('echo')
    await house.update('echo', { image: SLOW })
    await fetching(1)
  }

  it('ends the instances and the fetch', async () => {
    await open()
    expect(house.fixture.cloud.instances).toBe(1)
    await house.fixture.cloud.close({ deadlineMs: 0, endAgents: true })
    expect(house.engine.running).toEqual([])
    expect(house.engine.fetching).toEqual([])
  })

  it('ends the instances at once, also when the engine does not end the fetch', async () => {
    await open()
    let fail = (): void => {}
    house.engine.start = () =>
      new Promise((_, reject) => {
        fail = () => reject(new Error('at last'))
      })
    await house.update('echo', { image: 'registry.test/stuck:1' })
    await fetching(0)
    const closed = house.fixture.cloud.close({ deadlineMs: 0, endAgents: true })
    await until(() => house.engine.running.length === 0, 'the instances to be gone')
    fail()
    await closed
  })

  it('lets the instances go on, and the next start fetches it again', async () => {
    await open()
    await house.fixture.cloud.close({ deadlineMs: 0 })
    expect(house.engine.running).toHaveLength(1)
    expect(house.engine.fetching).toEqual([])
    await house.fixture.open()
    await fetching(1)
    expect(await house.agent('echo')).toMatchObject({
      ...{ activeSessionCount: 1, deployment: { number: 2, phase: 'Validating' } },
    })
    house.engine.scripts.delete(SLOW)
    await house.fixture.restart()
    await house.phase('echo', 'Active')
  })
})

it('a cloud that is ending starts no session and makes no agent', async () => {
  house = await AgentHouse.open({ config: { agents: { stopSeconds: 1 } } })
  const image = 'registry.test/lingers:1'
  house.engine.scripts.set(image, { lingers: true })
  await house.deployed('echo', { ...ONE, image })
  const closed = house.fixture.cloud.close({ deadlineMs: 0, endAgents: true })
  const unavailable = { status: 503, body: { code: 'UNAVAILABLE' } }
  expect(await house.start('echo')).toMatchObject(unavailable)
  expect(await house.create('other')).toMatchObject(unavailable)
  for (const instance of house.engine.running) instance.crash()
  await closed
})
