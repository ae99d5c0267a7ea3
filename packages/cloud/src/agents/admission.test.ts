import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'

let house: AgentHouse
beforeEach(async () => {
  house = await AgentHouse.open({ config: { agents: { idleSeconds: 0, startSeconds: 30 } } })
})
afterEach(() => house.close())

describe('admission', () => {
  it('lets exactly as many sessions in as there may be, however many ask at once', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 3 }, sessionsPerInstance: 2 })
    const answers = await Promise.all(Array.from({ length: 30 }, () => house.start('echo')))
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(6)
    expect(refused).toHaveLength(24)
    for (const { body, headers } of refused) {
      expect(body).toMatchObject({
        code: 'DEPLOY-AT-CAPACITY',
        error: expect.stringContaining('all 6 sessions'),
      })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(house.engine.running.map(({ mostSessions }) => mostSessions)).toEqual([2, 2, 2])
    const [instance] = house.engine.running
    const [id = ''] = instance?.sessions.keys() ?? []
    instance?.endSession(id)
    await house.ended('echo', id)
    const again = await Promise.all(Array.from({ length: 3 }, () => house.start('echo')))
    expect(again.map(({ status }) => status).sort()).toEqual([200, 429, 429])
  })

  it('counts the sessions of older deployments, too', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 2 } })
    const old = await house.session('echo')
    await house.update('echo', { image: 'registry.test/bot:2' })
    await house.phase('echo', 'Active')
    await house.session('echo')
    expect(await house.start('echo')).toMatchObject({ status: 429 })
    old.instance.endSession(old.id)
    await house.ended('echo', old.id)
    expect(await house.start('echo')).toMatchObject({ status: 200 })
  })

  it('starts an instance for a caller where none is warm, and says that it was cold', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 2 } })
    await until(() => house.engine.running.length === 0, 'the instance to be idle and gone')
    const { id } = await house.session('echo')
    expect(await house.record('echo', id)).toMatchObject({ coldStart: true, state: 'starting' })
    await until(() => house.engine.running.length === 2, 'a warm one for the next')
    const warm = await house.session('echo')
    expect(await house.record('echo', warm.id)).toMatchObject({ coldStart: false })
  })

  it('tells whoever waits that the bot does not start any more', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 2 } })
    await until(() => house.engine.running.length === 0, 'the instance to be idle and gone')
    house.engine.scripts.set('registry.test/bot:1', { fails: { code: 1, output: 'no more\n' } })
    const refused = await house.start('echo')
    expect(refused).toMatchObject({ status: 502, body: { code: 'DEPLOY-START-FAILED' } })
    const agent = await house.agent('echo')
    expect(agent).toMatchObject({
      available: false,
      errors: [{ code: expect.stringMatching(/StartFailed|CrashLoopBackOff/) }],
    })
    expect(agent.errors[0]?.message).toContain('no more')
  })

  it('gives the place back when the instance refuses the session', async () => {
    house.engine.scripts.set('registry.test/bot:1', { refuses: 422 })
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    for (let round = 0; round < 3; round += 1) {
      expect(await house.start('echo')).toMatchObject({ status: 400, body: { code: 'INVALID_REQUEST' } })
    }
    expect(await house.agent('echo')).toMatchObject({ activeSessionCount: 0 })
    const { body } = await house.fixture.request('/v1/agents/echo/sessions')
    expect(body).toMatchObject({
      total_count: 3,
      sessions: [{ state: 'ended', completionStatus: 'not_started' }, {}, {}],
    })
  })

  it('holds the limit of the machine, and takes idle instances of others for those who call', async () => {
    await house.close()
    house = await AgentHouse.open({
      config: { agents: { maxInstances: 2, idleSeconds: 3600, startSeconds: 2 } },
    })
    await house.deployed('one', { autoScaling: { minAgents: 0, maxAgents: 5 } })
    await house.deployed('two', { autoScaling: { minAgents: 0, maxAgents: 5 } })
    await house.session('one')
    const [, idle] = house.engine.running
    const second = await house.session('one')
    expect(second.instance).not.toBe(idle)
    await until(() => idle?.isGone, 'the instance that nobody needed to be stopped')
    const third = await house.start('two')
    expect(third).toMatchObject({ status: 429, body: { code: 'DEPLOY-AT-CAPACITY' } })
    expect(house.engine.running).toHaveLength(2)
  })

  it('lets no more callers wait on a full machine than there will be places', async () => {
    await house.close()
    house = await AgentHouse.open({ config: { agents: { maxInstances: 2, idleSeconds: 0 } } })
    const autoScaling = { minAgents: 0, maxAgents: 5 }
    await house.deployed('echo', { autoScaling, sessionsPerInstance: 2 })
    await until(() => house.engine.running.length === 0, 'its instance to be idle and gone')
    const answers = await Promise.all(Array.from({ length: 9 }, () => house.start('echo')))
    const refused = answers.filter(({ status }) => status === 429)
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4)
    expect(refused).toHaveLength(5)
    expect(refused[0]?.body).toMatchObject({ error: expect.stringContaining('all 2 instances') })
  })

  it('tells callers who wait that their agent is removed', async () => {
    const image = 'registry.test/slow:1'
    await house.deployed('echo', { image, autoScaling: { minAgents: 0, maxAgents: 1 } })
    await until(() => house.engine.running.length === 0, 'its instance to be idle and gone')
    house.engine.scripts.set(image, { waits: true })
    const waiting = house.start('echo')
    await until(() => house.engine.running.length === 1, 'an instance for the caller')
    await house.fixture.request('/v1/agents/echo', { method: 'DELETE' })
    expect(await waiting).toMatchObject({ status: 404, body: { error: 'There is no agent echo.' } })
  })
})

describe('instances that end by themselves', () => {
  it('are started again, and their sessions are lost for one true cause', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const { id, instance } = await house.session('echo')
    instance.connectSession(id)
    await until(async () => (await house.record('echo', id)).state === 'active', 'the caller to be there')
    instance.crash({ signal: 'SIGKILL' })
    expect(await house.ended('echo', id)).toMatchObject({
      completionStatus: 'instance_lost',
      outcome: { result: 'failed', message: 'Its instance was killed (SIGKILL).' },
    })
    await until(async () => (await house.agent('echo')).currentRevision.readyReplicas > 0, 'another instance')
    expect((await house.agent('echo')).currentRevision.health.restartCount).toBeGreaterThan(0)
    expect((await house.start('echo')).status).toBe(200)
  })

  it('are a fault of the agent when they keep doing so, and forgotten once another one has served a call', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 1 } })
    const crash = async () => {
      const { id, instance } = await house.session('echo')
      instance.say('of this call only')
      instance.crash({ signal: 'SIGKILL' })
      await house.ended('echo', id)
      await until(async () => (await house.agent('echo')).instances.length === 0, 'the crash to be seen')
    }
    await crash()
    expect(await house.agent('echo')).toMatchObject({ ready: true, available: true, errors: [] })
    await crash()
    const words = 'takes no sessions: its instances keep ending.\nThe last one was killed (SIGKILL).'
    expect(await house.agent('echo')).toMatchObject({
      ...{ ready: false, available: false },
      errors: [{ code: 'CrashLoopBackOff', message: `The agent ${words}` }],
    })
    const again = await house.session('echo')
    again.instance.endSession(again.id)
    await house.ended('echo', again.id)
    await until(async () => (await house.agent('echo')).instances.length === 0, 'all to be idle and gone')
    expect(await house.agent('echo')).toMatchObject({
      ...{ ready: true, available: true, errors: [] },
      conditions: [{ status: 'False' }, { type: 'Degraded', status: 'False' }],
      currentRevision: { health: { state: 'waiting', reason: null, message: null } },
    })
  })

  it('keep the end that they had written down before', async () => {
    await house.deployed('echo')
    const { id, instance } = await house.session('echo')
    instance.endSession(id, 'bot_failed')
    instance.crash({ code: 1 })
    expect(await house.ended('echo', id)).toMatchObject({ completionStatus: 'bot_failed' })
  })
})
