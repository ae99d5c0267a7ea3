import { join } from 'node:path'
import { deploymentListResponse } from '@botcli/protocol/cloud'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'

let house: AgentHouse
beforeEach(async () => {
  house = await AgentHouse.open({ config: { agents: { idleSeconds: 0 } } })
})
afterEach(() => house.close())

describe('a first deployment', () => {
  it('is active once an instance is ready, and keeps as many as are reserved', async () => {
    const agent = await house.deployed('echo', { autoScaling: { minAgents: 2, maxAgents: 4 } })
    expect(agent).toMatchObject({
      ...{ name: 'echo', region: 'local', ready: true, available: true, activeSessionCount: 0 },
      autoScaling: { minReplicas: 2, maxReplicas: 4 },
      deployment: { number: 1, reason: 'create', phase: 'Active', image: 'registry.test/bot:1' },
      currentRevision: { readyReplicas: 2, health: { ready: true, state: 'running', restartCount: 0 } },
      errors: [],
    })
    expect(agent.activeDeploymentId).toBe(agent.desiredDeploymentId)
    expect(agent.reconciledDeploymentId).toBe(agent.desiredDeploymentId)
    expect(agent.instances.map(({ state }) => state)).toEqual(['ready', 'ready'])
  })

  it('fails with the last words of its bot, and says so in the log', async () => {
    const output = 'Traceback (most recent call last):\nModuleNotFoundError: No module named "nope"\n'
    house.engine.scripts.set('registry.test/bot:1', { fails: { code: 1, output } })
    await house.create('broken')
    const agent = await house.phase('broken', 'Failed')
    expect(agent).toMatchObject({ ready: false, available: false, activeDeploymentId: null })
    expect(agent.deployment.failure).toEqual({
      code: 'DEPLOY-START-FAILED',
      message: 'The bot ended with exit code 1 before it was ready.',
      detail: output.trim(),
      exitCode: 1,
    })
    expect(agent.errors).toMatchObject([{ code: 'DEPLOY-START-FAILED' }])
    const texts = (await house.logs('broken')).map(({ log }) => log)
    expect(texts.join('\n')).toContain('No module named "nope"')
    expect(texts.at(-1)).toContain('Deployment 1 failed')
    const start = await house.start('broken')
    expect(start).toMatchObject({ status: 409, body: { code: 'DEPLOY-NOT-READY' } })
    expect(start.headers.get('retry-after')).toBeNull()
  })

  it('fails with all that its bot has said so far, when it takes too long to load', async () => {
    await house.close()
    house = await AgentHouse.open({ config: { agents: { startSeconds: 1 } } })
    house.engine.scripts.set('registry.test/bot:1', { waits: true })
    await house.create('slow', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const instance = await until(() => house.engine.running[0], 'an instance')
    instance.say('loading model')
    const { deployment } = await house.phase('slow', 'Failed')
    expect(deployment.failure).toMatchObject({
      code: 'DEPLOY-START-FAILED',
      message: expect.stringMatching(/^The bot was not ready within 1 seconds: .* agents\.startSeconds\.$/),
      detail: expect.stringContaining('loading model'),
    })
    const texts = (await house.logs('slow')).map(({ log }) => log)
    expect(texts).toContain(
      `Instance ${instance.id.slice(0, 8)} took too long and was ended before it was ready.`,
    )
    expect(texts.join('\n')).not.toContain('any more')
  })

  it('that failed is still said to have started instances when nothing is left of them', async () => {
    house.engine.scripts.set('registry.test/bot:1', { fails: { code: 1, output: 'boom\n' } })
    await house.create('broken')
    await house.phase('broken', 'Failed')
    await house.fixture.cloud.close({ deadlineMs: 0 })
    await house.fixture.open()
    expect((await house.agent('broken')).currentRevision).toMatchObject({
      phase: 'Failed',
      health: { state: 'terminated', restartCount: 0, replicasStarted: 1, lastExitCode: 1 },
    })
  })

  it('takes no sessions before it is ready', async () => {
    house.engine.scripts.set('registry.test/bot:1', { waits: true })
    await house.create('slow', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const instance = await until(() => house.engine.running[0], 'an instance')
    const early = await house.start('slow')
    expect(early).toMatchObject({ status: 409, body: { code: 'DEPLOY-NOT-READY' } })
    expect(early.headers.get('retry-after')).toBe('5')
    instance.becomeReady()
    await house.phase('slow', 'Active')
    expect((await house.start('slow')).status).toBe(200)
  })
})

describe('a later deployment', () => {
  it('takes the sessions when it is ready; running ones finish on the one before', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 5 } })
    const old = await house.session('echo')
    house.engine.scripts.set('registry.test/bot:2', { waits: true })
    expect(await house.update('echo', { image: 'registry.test/bot:2' })).toMatchObject({ status: 200 })
    const next = await until(
      () =>
        house.engine.running.find(
          ({ spec }) => 'name' in spec.artifact && spec.artifact.name === 'registry.test/bot:2',
        ),
      'the new instance',
    )
    const between = await house.session('echo')
    expect(between.instance.spec.settings.deploymentId).toBe(old.instance.spec.settings.deploymentId)
    next.becomeReady()
    await house.phase('echo', 'Active')
    const late = await house.session('echo')
    expect(late.instance.spec.settings.deploymentId).toBe(next.spec.settings.deploymentId)
    expect(await house.agent('echo')).toMatchObject({
      activeSessionCount: 3,
      previousRevision: { number: 1, phase: 'Draining' },
    })
    expect([old.instance.isGone, between.instance.isGone]).toEqual([false, false])
    old.instance.endSession(old.id)
    expect(await house.ended('echo', old.id)).toMatchObject({ outcome: { cause: 'client_left' } })
    await until(() => old.instance.isGone, 'the old instance to be stopped')
    expect(between.instance.isGone).toBe(false)
    between.instance.endSession(between.id)
    await until(() => between.instance.isGone, 'the other one to be stopped')
    const retired = async () => {
      const { body } = await house.fixture.request('/v1/agents/echo/deployments')
      const [, first] = (body as { deployments: { phase: string }[] }).deployments
      return first?.phase === 'Retired'
    }
    await until(retired, 'the old deployment to be retired')
    expect(await house.agent('echo')).toMatchObject({ previousRevision: null })
  })

  it('that fails leaves the one before as it was', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 5 } })
    const { id, instance } = await house.session('echo')
    house.engine.scripts.set('registry.test/bot:2', { fails: { code: 3, output: 'boom\n' } })
    await house.update('echo', { image: 'registry.test/bot:2' })
    const agent = await house.phase('echo', 'Failed')
    expect(agent).toMatchObject({
      ...{ ready: false, available: true },
      deployment: { number: 2, failure: { exitCode: 3, detail: 'boom' } },
      previousRevision: { number: 1, phase: 'Active' },
    })
    expect((await house.start('echo')).status).toBe(200)
    expect([instance.isGone, instance.sessions.has(id)]).toEqual([false, true])
    const texts = (await house.logs('echo', `&deploymentId=${agent.deployment.id}`)).map(({ log }) => log)
    expect(texts.at(-1)).toBe(
      'Deployment 2 failed: The bot ended with exit code 3 before it was ready. Deployment 1 still takes the sessions.',
    )
  })

  it('that fails does not speak for the one before when that is down, too', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const [instance] = house.engine.running
    for (const tag of [1, 2]) {
      house.engine.scripts.set(`registry.test/bot:${tag}`, { fails: { code: 3, output: 'boom\n' } })
    }
    instance?.crash({ signal: 'SIGKILL' })
    await until(async () => !(await house.agent('echo')).available, 'the end of the only instance')
    await house.update('echo', { image: 'registry.test/bot:2' })
    const { deployment, available } = await house.phase('echo', 'Failed')
    expect(available).toBe(false)
    const last = (await house.logs('echo', `&deploymentId=${deployment.id}`)).at(-1)?.log
    expect(last).toContain(
      'failed: The bot ended with exit code 3 before it was ready. Deployment 1 takes none of the sessions either: its instances keep ending.',
    )
  })

  it('that fails does not speak for the one before when the engine can start neither', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 1 } })
    await until(() => house.engine.running.length === 0, 'its instance to be idle and gone')
    const why = 'the registry does not answer'
    const { start } = house.engine
    house.engine.start = async () => {
      throw new Error(why)
    }
    expect(await house.start('echo')).toMatchObject({ status: 502, body: { code: 'DEPLOY-START-FAILED' } })
    const message = `The agent takes no sessions: its instances do not start.\n${why}`
    expect(await house.agent('echo')).toMatchObject({
      ...{ ready: false, available: false, errors: [{ code: 'StartFailed', message }] },
      currentRevision: { health: { reason: 'StartFailed', message: why } },
    })
    await house.update('echo', { maxSessionDuration: 99 })
    const { deployment } = await house.phase('echo', 'Failed')
    const last = (await house.logs('echo', `&deploymentId=${deployment.id}`)).at(-1)?.log
    expect(last).toBe(
      `Deployment 2 failed: ${why}. Deployment 1 takes none of the sessions either: its instances do not start.`,
    )
    house.engine.start = start
    await until(async () => (await house.start('echo')).status === 200, 'the engine to start it again')
    expect(await house.agent('echo')).toMatchObject({ available: true })
  })

  it('that cannot start any more says so also when an instance that worked is gone only after that', async () => {
    const { engine } = house
    const start = engine.start.bind(engine)
    let leave = () => {}
    engine.start = async (...plan) => {
      const old = await start(...plan)
      const stop = old.stop.bind(old)
      old.stop = (graceMs) => new Promise<void>((resolve) => (leave = resolve)).then(() => stop(graceMs))
      return old
    }
    await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 1 } })
    const states = async () => (await house.agent('echo')).instances.map(({ state }) => state)
    await until(async () => (await states())[0] === 'stopping', 'it to be idle')
    engine.start = async () => {
      throw new Error('the registry does not answer')
    }
    expect(await house.start('echo')).toMatchObject({ status: 502 })
    leave()
    await until(async () => (await states()).length === 0, 'it to be gone')
    expect(await house.agent('echo')).toMatchObject({ ready: false, errors: [{ code: 'StartFailed' }] })
  })

  it('is rid of those before also when that could not be written down at first', async () => {
    await house.deployed('echo')
    const { default: Libsql } = await import('libsql')
    const database = new Libsql(join(house.fixture.folder, 'cloud.db'))
    database.exec(
      `CREATE TRIGGER full BEFORE UPDATE OF phase ON deployments WHEN NEW.phase = 'Retired' BEGIN SELECT RAISE(ABORT, 'full'); END`,
    )
    await house.update('echo', { maxSessionDuration: 99 })
    await until(
      () => house.fixture.told.some((line) => line.includes('could not be looked after')),
      'the trouble',
    )
    database.exec('DROP TRIGGER full')
    database.close()
    await until(async () => {
      const { body } = await house.fixture.request('/v1/agents/echo/deployments')
      const phases = deploymentListResponse.parse(body).deployments.map(({ phase }) => phase)
      return phases.join() === 'Active,Retired'
    }, 'the older deployment to be retired')
  })

  it('is not superseded by the removal of its agent', async () => {
    const image = 'registry.test/slow:1'
    house.engine.scripts.set(image, { waits: true })
    await house.create('echo', { image })
    await until(() => house.engine.running.length === 1, 'its instance')
    await house.fixture.request('/v1/agents/echo', { method: 'DELETE' })
    await until(() => house.engine.running.length === 0, 'its instance to be gone')
    await house.deployed('echo')
    expect(house.fixture.told.filter((line) => line.includes('SUPERSEDED'))).toEqual([])
  })

  it('is rid of those before also when the engine did not answer at first', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const [old] = house.engine.running
    if (!old) throw new Error('no instance')
    const stop = old.stop.bind(old)
    let tries = 0
    old.stop = async () => {
      tries += 1
      if (tries < 3) throw new Error('the engine does not answer')
      await stop()
    }
    await house.update('echo', { maxSessionDuration: 99 })
    await house.phase('echo', 'Active')
    await until(() => old.isGone, 'the old instance to be stopped')
    expect(tries).toBe(3)
    await until(
      async () => (await house.agent('echo')).previousRevision === null,
      'the old deployment to be retired',
    )
  })

  it('that is overtaken is given up', async () => {
    await house.deployed('echo')
    house.engine.scripts.set('registry.test/bot:2', { waits: true })
    await house.update('echo', { image: 'registry.test/bot:2' })
    await house.update('echo', { image: 'registry.test/bot:3' })
    await house.phase('echo', 'Active')
    const { body } = await house.fixture.request('/v1/agents/echo/deployments')
    expect(body).toMatchObject({
      deployments: [
        { number: 3, phase: 'Active' },
        { number: 2, phase: 'Failed', failure: { code: 'DEPLOY-SUPERSEDED' } },
        { number: 1 },
      ],
      total: 3,
    })
    await until(
      () =>
        house.engine.running.every(
          ({ spec }) => 'name' in spec.artifact && spec.artifact.name === 'registry.test/bot:3',
        ),
      'the others to be gone',
    )
  })

  it('is not made when nothing has changed, unless it is forced', async () => {
    const { deployment } = await house.deployed('echo')
    const same = await house.update('echo', { image: 'registry.test/bot:1' })
    expect(same).toMatchObject({ body: { deployment: { id: deployment.id }, warning: expect.any(String) } })
    const scaled = await house.update('echo', { autoScaling: { maxAgents: 7 } })
    expect(scaled).toMatchObject({
      body: { deployment: { id: deployment.id }, autoScaling: { maxReplicas: 7 } },
    })
    const forced = await house.update('echo', { forceRedeploy: true })
    expect(forced).toMatchObject({ body: { deployment: { number: 2, reason: 'update' } } })
  })
})

describe('going back and over', () => {
  it('rolls back to what ran before, as a new deployment', async () => {
    const first = await house.deployed('echo')
    await house.update('echo', { image: 'registry.test/bot:2', maxSessionDuration: 100 })
    await house.phase('echo', 'Active')
    const { body } = await house.fixture.send('POST', '/v1/agents/echo/rollback', {})
    expect(body).toMatchObject({
      deployment: { number: 3, reason: 'rollback', image: 'registry.test/bot:1', maxSessionDuration: 7200 },
    })
    expect((body as typeof first).deployment.sourceDeploymentId).toBe(first.deployment.id)
    await house.phase('echo', 'Active')
    const to2 = { deploymentId: (await house.agent('echo')).deployment.id }
    expect(await house.fixture.send('POST', '/v1/agents/echo/rollback', to2)).toMatchObject({ status: 409 })
  })

  it('rolls back from a failed deployment to the one that is active', async () => {
    await house.deployed('echo')
    house.engine.scripts.set('registry.test/bot:2', { fails: { code: 1, output: '' } })
    await house.update('echo', { image: 'registry.test/bot:2' })
    await house.phase('echo', 'Failed')
    const { body } = await house.fixture.send('POST', '/v1/agents/echo/rollback', {})
    expect(body).toMatchObject({ deployment: { number: 3, image: 'registry.test/bot:1' } })
    expect(await house.phase('echo', 'Active')).toMatchObject({ ready: true, errors: [] })
  })

  it('refuses to go back where nothing was before', async () => {
    await house.deployed('echo')
    expect(await house.fixture.send('POST', '/v1/agents/echo/rollback', {})).toMatchObject({ status: 409 })
  })

  it('promotes what another agent runs, and keeps all else', async () => {
    const staging = await house.deployed('staging', { image: 'registry.test/bot:7', maxSessionDuration: 60 })
    await house.deployed('production', { maxSessionDuration: 90 })
    const promote = { fromAgent: 'staging' }
    const { body } = await house.fixture.send('POST', '/v1/agents/production/promote', promote)
    expect(body).toMatchObject({
      deployment: { reason: 'promote', image: 'registry.test/bot:7', maxSessionDuration: 90, number: 2 },
    })
    expect((body as typeof staging).deployment.sourceDeploymentId).toBe(staging.deployment.id)
    await house.phase('production', 'Active')
    for (const [request, status] of [
      [{ fromAgent: 'nobody' }, 404],
      [{ fromAgent: 'production' }, 400],
      [{ fromAgent: 'staging', deploymentId: crypto.randomUUID() }, 404],
    ] as const) {
      expect(await house.fixture.send('POST', '/v1/agents/production/promote', request)).toMatchObject({
        status,
      })
    }
  })
})

describe('an agent that is removed', () => {
  it('takes no more sessions, lets the running ones finish, and its name is free', async () => {
    await house.deployed('echo')
    const { id, instance } = await house.session('echo')
    expect(await house.fixture.request('/v1/agents/echo', { method: 'DELETE' })).toMatchObject({
      status: 200,
    })
    expect(await house.start('echo')).toMatchObject({ status: 404 })
    expect(await house.fixture.request('/v1/agents/echo')).toMatchObject({ status: 404 })
    await house.fixture.restart()
    expect(instance.isGone).toBe(false)
    const again = await house.deployed('echo', { image: 'registry.test/bot:2' })
    expect(again.deployment.number).toBe(1)
    instance.endSession(id)
    await until(() => instance.isGone, 'its instance to be stopped')
  })
})
