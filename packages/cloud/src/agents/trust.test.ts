import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'

let house: AgentHouse
beforeEach(async () => {
  house = await AgentHouse.open({ config: { agents: { idleSeconds: 0 } } })
})
afterEach(() => house.close())

describe('what an instance says', () => {
  const ended = (sessionId: string, outcome: unknown, endedAt: string = new Date().toISOString()) => ({
    type: 'session',
    session: { sessionId, state: 'ended', createdAt: new Date().toISOString(), endedAt, outcome },
  })

  it('counts for its own sessions only', async () => {
    await house.deployed('victim')
    await house.deployed('evil')
    const { id } = await house.session('victim')
    const evil = await house.session('evil')
    evil.instance.write(ended(id, { result: 'ok', cause: 'client_left', message: 'forged' }))
    evil.instance.say('after the lie', evil.id)
    await until(
      async () => (await house.logs('evil')).some(({ log }) => log === 'after the lie'),
      'the journal to be read on',
    )
    expect(await house.record('victim', id)).toMatchObject({ state: 'starting', outcome: null })
  })

  it('is read with care: causes and times that cannot be do no harm', async () => {
    await house.deployed('echo')
    const { id, instance } = await house.session('echo')
    instance.write(ended(id, { result: 'failed', cause: 'new_in_2030', message: 'what' }, 'x'))
    expect(await house.ended('echo', id)).toMatchObject({
      outcome: { result: 'failed', cause: 'bot_exited', message: 'new_in_2030: what' },
    })
    const { status, body } = await house.fixture.request('/v1/agents/echo/sessions')
    expect([status, body]).toMatchObject([200, { total_count: 1 }])
  })
})

describe('an instance whose disk was full', () => {
  it('is asked for what it could not write down', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const { id, instance } = await house.session('echo')
    instance.connectSession(id)
    instance.isFull = true
    const { endedAt } = instance.endSession(id)
    instance.isFull = false
    instance.write({ type: 'lost', records: 1 })
    const record = await until(async () => {
      instance.say('a beat')
      const found = await house.record('echo', id)
      return found.state === 'ended' && found
    }, 'the session to be over')
    expect(record).toMatchObject({ completionStatus: 'client_left', endedAt })
    expect((await house.start('echo')).status).toBe(200)
  })
})

describe('an instance that does not say how a session ended', () => {
  it('is asked again, and has lost it when it does not say it then', async () => {
    await house.close()
    let offMs = 0
    const clock = () => Date.now() + offMs
    house = await AgentHouse.open({ clock, config: { agents: { idleSeconds: 0 } } })
    await house.deployed('echo', { sessionsPerInstance: 2, autoScaling: { minAgents: 1, maxAgents: 1 } })
    const { id: odd, instance } = await house.session('echo')
    const { id: late } = await house.session('echo')
    instance.isFull = true
    for (const id of [odd, late]) {
      const view = instance.endSession(id)
      instance.ended.set(id, Object.assign({ ...view }, { state: 'finished' }))
    }
    instance.isFull = false
    offMs = 600_000
    const asked = (id: string) =>
      house.fixture.told.filter((line) => line.includes('did not say how') && line.includes(id)).length
    instance.write({ type: 'lost', records: 1 })
    await until(() => {
      instance.say('a beat')
      return asked(odd) === 1 && asked(late) === 1
    }, 'both to be asked for')
    expect(await house.record('echo', late)).toMatchObject({ state: 'starting' })
    const view = instance.ended.get(late)
    if (!view) throw new Error('no view')
    instance.ended.set(late, { ...view, state: 'ended' })
    instance.write({ type: 'lost', records: 1 })
    const record = await until(async () => {
      instance.say('a beat')
      const found = await house.record('echo', odd)
      return found.state === 'ended' && found
    }, 'the session to be over')
    expect(record).toMatchObject({ completionStatus: 'instance_lost' })
    expect(await house.ended('echo', late)).toMatchObject({ completionStatus: 'client_left' })
    expect((await house.start('echo')).status).toBe(200)
  })
})

describe('a start', () => {
  it('that was not answered is undone at the instance, and its place is free', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const [instance] = house.engine.running
    if (!instance) throw new Error('no instance')
    instance.isMute = true
    expect(await house.start('echo')).toMatchObject({ status: 502, body: { code: 'DEPLOY-SESSION-FAILED' } })
    await until(() => instance.sessions.size === 0, 'the instance to hear of it')
    instance.isMute = false
    expect(await house.start('echo')).toMatchObject({ status: 200 })
    const { body } = await house.fixture.request('/v1/agents/echo/sessions?status=ended')
    expect(body).toMatchObject({ total_count: 1, sessions: [{ completionStatus: 'not_started' }] })
  })

  it('whose failure cannot be written down is answered with its reason, and is over as soon as it can be', async () => {
    house.engine.scripts.set('registry.test/bot:1', { refuses: 422 })
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const [instance] = house.engine.running
    if (!instance) throw new Error('no instance')
    const { default: Libsql } = await import('libsql')
    const database = new Libsql(join(house.fixture.folder, 'cloud.db'))
    database.exec(
      `CREATE TRIGGER full BEFORE UPDATE OF ended_at ON sessions BEGIN SELECT RAISE(ABORT, 'full'); END`,
    )
    const refused = await house.start('echo')
    expect(refused).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('as the script says') },
    })
    const sessions = async () => (await house.fixture.request('/v1/agents/echo/sessions')).body
    instance.say('a beat')
    expect(await sessions()).toMatchObject({ total_count: 1, sessions: [{ state: 'starting' }] })
    expect((await house.start('echo')).status).toBe(429)
    database.exec('DROP TRIGGER full')
    database.close()
    await until(async () => {
      instance.say('a beat')
      return (await house.agent('echo')).activeSessionCount === 0
    }, 'the session to be over')
    expect(await sessions()).toMatchObject({ sessions: [{ completionStatus: 'not_started' }] })
  })

  it('is answered before the server lets its caller go, though the instance hangs', async () => {
    await house.close()
    house = await AgentHouse.open({ config: { agents: { idleSeconds: 0 } }, idleMs: 8000 })
    await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 1 } })
    await until(() => house.engine.running.length === 0, 'the instance to be idle and gone')
    house.engine.scripts.set('registry.test/bot:1', { waits: true })
    const answer = house.start('echo')
    await until(async () => (await house.agent('echo')).activeSessionCount === 1, 'a caller to wait')
    const instance = await until(() => house.engine.running[0], 'an instance for the caller')
    instance.isDeaf = true
    instance.becomeReady()
    expect(await answer).toMatchObject({ status: 502, body: { code: 'DEPLOY-SESSION-FAILED' } })
  })

  it('whose caller has left is not begun for nobody', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 1 } })
    await until(() => house.engine.running.length === 0, 'the instance to be idle and gone')
    house.engine.scripts.set('registry.test/bot:1', { waits: true })
    const leaving = new AbortController()
    const left = fetch(`${house.fixture.url}/v1/public/echo/start`, {
      method: 'POST',
      body: '{}',
      headers: { authorization: `Bearer ${house.fixture.keys.publicKey}`, connection: 'close' },
      signal: leaving.signal,
    }).catch(() => 'left')
    const instance = await until(() => house.engine.running[0], 'an instance for the caller')
    leaving.abort()
    expect(await left).toBe('left')
    await until(async () => (await house.agent('echo')).activeSessionCount === 0, 'nobody to wait')
    instance.becomeReady()
    await until(() => instance.isGone, 'the instance that nobody needs to be stopped')
    expect(instance.mostSessions).toBe(0)
  })
})

describe('many at once', () => {
  it('never see an agent that is half made, or half gone', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `agent-${index}`)
    const make = async (name: string) => {
      expect((await house.create(name)).status).toBe(200)
      expect((await house.fixture.request(`/v1/agents/${name}`, { method: 'DELETE' })).status).toBe(200)
    }
    let isOver = false
    const made = Promise.all(names.map(make)).finally(() => {
      isOver = true
    })
    while (!isOver) {
      expect((await house.fixture.request('/v1/agents')).status).toBe(200)
      for (const name of names.slice(0, 3)) {
        expect([404, 409]).toContain(
          (await house.start(name)).status === 200 ? 409 : (await house.start(name)).status,
        )
      }
    }
    await made
  })
})

it('a machine that is full still lets agents be changed', async () => {
  await house.close()
  house = await AgentHouse.open({ config: { agents: { maxInstances: 2 } } })
  await house.deployed('echo', { autoScaling: { minAgents: 2, maxAgents: 2 } })
  await house.update('echo', { maxSessionDuration: 99 })
  await house.phase('echo', 'Active')
  await until(
    async () => (await house.agent('echo')).currentRevision.readyReplicas === 2,
    'both to be of the new one',
  )
  await until(() => house.engine.running.length === 2, 'those of before to be gone')
})

it('agents get new secrets also when the first try came to nothing', async () => {
  const put = (value: string) =>
    house.fixture.send('PUT', '/v1/secrets/keys', { secrets: [{ secretKey: 'KEY', secretValue: value }] })
  await put('first-value')
  await house.deployed('echo', { secretSet: 'keys', autoScaling: { minAgents: 1, maxAgents: 2 } })
  const { id, instance } = await house.session('echo')
  await put('first-value')
  expect((await house.agent('echo')).deployment.number).toBe(1)
  await put('other-value')
  expect(await house.phase('echo', 'Active')).toMatchObject({ deployment: { number: 2, reason: 'secrets' } })
  expect(instance.sessions.has(id)).toBe(true)
  expect(instance.spec.env.KEY).toBe('first-value')
  const fresh = await house.session('echo')
  expect(fresh.instance.spec.env.KEY).toBe('other-value')
  const { status } = await house.fixture.request('/v1/secrets/keys', { method: 'DELETE' })
  expect(status).toBe(409)
  await house.fixture.restart()
  expect((await house.agent('echo')).deployment.number).toBe(2)
})
