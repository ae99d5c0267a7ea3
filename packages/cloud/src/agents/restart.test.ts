import { afterEach, beforeEach, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'

let house: AgentHouse
beforeEach(async () => {
  house = await AgentHouse.open({ config: { agents: { idleSeconds: 0 } } })
})
afterEach(() => house.close())

it('a cloud that comes back finds its instances and their sessions', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 3 } })
  const { id, instance } = await house.session('echo')
  const before = house.engine.started.length
  await house.fixture.restart()
  const agent = await until(async () => {
    const found = await house.agent('echo')
    return found.currentRevision.readyReplicas > 0 ? found : undefined
  }, 'the instances to be found')
  expect(agent).toMatchObject({ activeSessionCount: 1, ready: true })
  expect(house.engine.started.length).toBe(before)
  instance.connectSession(id)
  instance.say('hello again', id)
  instance.endSession(id)
  expect(await house.ended('echo', id)).toMatchObject({ completionStatus: 'client_left' })
  const texts = (await house.logs('echo', `&sessionId=${id}`)).map(({ log }) => log)
  expect(texts).toContain('hello again')
})

it('what happened meanwhile is told once, and in order', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 3 } })
  const { id, instance } = await house.session('echo')
  instance.say('before', id)
  await until(async () => (await house.logs('echo', `&sessionId=${id}`)).length > 0, 'the first line')
  await house.fixture.cloud.close({ deadlineMs: 0 })
  instance.say('meanwhile', id)
  instance.endSession(id, 'bot_returned')
  await house.fixture.open()
  expect(await house.ended('echo', id)).toMatchObject({ completionStatus: 'bot_returned' })
  await until(
    async () => (await house.logs('echo', `&sessionId=${id}`)).some(({ log }) => log === 'meanwhile'),
    'the second line',
  )
  const texts = (await house.logs('echo', `&sessionId=${id}`)).map(({ log }) => log)
  expect(texts.filter((text) => text === 'before' || text === 'meanwhile')).toEqual(['before', 'meanwhile'])
})

it('what has ended meanwhile is known for what it was', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 3 } })
  const lost = await house.session('echo')
  await until(async () => (await house.agent('echo')).currentRevision.readyReplicas > 1, 'another instance')
  const other = await house.session('echo')
  await house.fixture.cloud.close({ deadlineMs: 0 })
  lost.instance.crash({ signal: 'SIGKILL' })
  await house.fixture.open()
  expect(await house.ended('echo', lost.id)).toMatchObject({ completionStatus: 'instance_lost' })
  expect(await house.record('echo', other.id)).toMatchObject({ state: 'starting' })
})

it('a session that the instance does not know any more is lost', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 3 } })
  const { id, instance } = await house.session('echo')
  await house.fixture.cloud.close({ deadlineMs: 0 })
  instance.sessions.delete(id)
  await house.fixture.open()
  expect(await house.ended('echo', id)).toMatchObject({ completionStatus: 'instance_lost' })
})

it('a session whose end could not be written down is over as its instance says', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 3 } })
  const { id, instance } = await house.session('echo')
  instance.connectSession(id)
  await house.fixture.cloud.close({ deadlineMs: 0 })
  instance.isFull = true
  const { endedAt } = instance.endSession(id)
  instance.isFull = false
  await house.fixture.open()
  expect(await house.ended('echo', id)).toMatchObject({ completionStatus: 'client_left', endedAt })
})

it('an instance that dies while it is asked for its sessions is gone with them', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
  const { id, instance } = await house.session('echo')
  await house.fixture.cloud.close({ deadlineMs: 0 })
  instance.isFull = true
  instance.endSession(id)
  instance.isFrail = true
  await house.fixture.open()
  expect(await house.ended('echo', id)).toMatchObject({ completionStatus: 'instance_lost' })
  expect(instance.isGone).toBe(true)
  expect((await house.start('echo')).status).toBe(200)
})

it('an instance that does not say how a session ended takes others, and tells of them', async () => {
  await house.deployed('echo', { sessionsPerInstance: 3, autoScaling: { minAgents: 1, maxAgents: 1 } })
  const { id: odd, instance } = await house.session('echo')
  const { id: other } = await house.session('echo')
  await house.fixture.cloud.close({ deadlineMs: 0 })
  instance.isFull = true
  const view = instance.endSession(odd)
  instance.isFull = false
  // As one of another version would.
  instance.ended.set(odd, Object.assign({ ...view }, { state: 'finished' }))
  await house.fixture.open()
  await until(async () => (await house.agent('echo')).currentRevision.readyReplicas === 1, 'it to be ready')
  expect((await house.start('echo')).status).toBe(200)
  expect((await house.start('echo')).status).toBe(429)
  instance.endSession(other)
  expect(await house.ended('echo', other)).toMatchObject({ completionStatus: 'client_left' })
})

it('a roll-out goes on where it was', async () => {
  house.engine.scripts.set('registry.test/bot:1', { waits: true })
  await house.create('slow')
  const instance = await until(() => house.engine.running[0], 'an instance')
  await house.fixture.restart()
  instance.becomeReady()
  await house.phase('slow', 'Active')
  expect(house.engine.started).toHaveLength(1)
})

it('what an instance says meanwhile is of its run, and it was ready since it was', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
  const before = (await house.agent('echo')).instances[0]?.readyAt
  await house.fixture.cloud.close({ deadlineMs: 0 })
  house.engine.running[0]?.say('nobody listens')
  await house.fixture.open()
  const entry = await until(
    async () => (await house.logs('echo')).find(({ log }) => log === 'nobody listens'),
    'the line',
  )
  expect(entry.source).toBe('run')
  const { readyAt } = (await house.agent('echo')).instances[0] ?? {}
  expect(Math.abs(Date.parse(readyAt ?? '') - Date.parse(before ?? ''))).toBeLessThan(100)
})

it('an instance that went down with the cloud before it was ready does not fail its deployment', async () => {
  house.engine.scripts.set('registry.test/bot:1', { waits: true })
  await house.create('slow')
  const instance = await until(() => house.engine.running[0], 'an instance')
  await house.phase('slow', 'Validating')
  await house.fixture.cloud.close({ deadlineMs: 0 })
  instance.crash()
  house.engine.scripts.delete('registry.test/bot:1')
  await house.fixture.open()
  await house.phase('slow', 'Active')
  expect(house.engine.started).toHaveLength(2)
})

it('an instance that was ready and went down with the cloud is not taken for one that cannot start', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
  await house.fixture.cloud.close({ deadlineMs: 0 })
  house.engine.running[0]?.crash()
  await house.fixture.open()
  expect((await house.start('echo')).status).toBe(200)
  const texts = (await house.logs('echo')).map(({ log }) => log)
  expect(texts.filter((text) => text.includes('before it was ready'))).toEqual([])
})
