import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import type { DeploymentConfig, NewDeployment, StoredAgent } from '../store/agents.ts'
import type { StoredSession } from '../store/sessions.ts'
import type { Store } from '../store/store.ts'

/** What a deployment of a test runs. */
export const SAMPLE_CONFIG: DeploymentConfig = {
  buildId: null,
  image: 'image:1',
  secretSet: null,
  imagePullSecretSet: null,
  agentProfile: 'agent-1x',
  maxSessionDuration: 7200,
  sessionsPerInstance: 1,
  noiseFilter: { audioFilter: null },
}

/** An agent with its first deployment. */
export function sampleAgent(
  changes: Partial<StoredAgent> & Pick<StoredAgent, 'organizationId'>,
  config: Partial<DeploymentConfig> = {},
): { readonly agent: StoredAgent; readonly deployment: NewDeployment } {
  const deployment: NewDeployment = {
    id: randomUUID(),
    agentId: changes.id ?? randomUUID(),
    reason: 'create',
    sourceDeploymentId: null,
    config: { ...SAMPLE_CONFIG, ...config },
    createdAt: 10,
  }
  const agent: StoredAgent = {
    id: deployment.agentId,
    name: 'bot',
    region: 'local',
    minAgents: 0,
    maxAgents: 5,
    desiredDeploymentId: deployment.id,
    activeDeploymentId: null,
    createdAt: 10,
    updatedAt: 10,
    deletedAt: null,
    ...changes,
  }
  return { agent, deployment }
}

/** A session that has just begun. */
export function sampleSession(
  changes: Partial<StoredSession> & Pick<StoredSession, 'organizationId' | 'agentId'>,
): StoredSession {
  return {
    id: randomUUID(),
    agentName: 'bot',
    deploymentId: randomUUID(),
    instanceId: randomUUID(),
    transport: 'webrtc',
    state: 'starting',
    coldStart: false,
    startMs: null,
    tokenUsed: false,
    outcome: null,
    createdAt: 100,
    updatedAt: 100,
    connectedAt: null,
    endedAt: null,
    ...changes,
  }
}

/** What every store does with agents and sessions. */
export function agentStoreTests(storeOf: () => Store, [one, two]: readonly [string, string]): void {
  const deploy = (agentId: string, config: Partial<DeploymentConfig>, createdAt = 20) =>
    storeOf().agents.deploy({
      ...{ id: randomUUID(), agentId, reason: 'update', sourceDeploymentId: null, createdAt },
      config: { ...SAMPLE_CONFIG, ...config },
    })

  it('keeps agents by the name that they have in their organization', async () => {
    const store = storeOf()
    const { agent, deployment } = sampleAgent({ organizationId: one })
    expect(await store.agents.create(agent, deployment)).toBe(true)
    const again = sampleAgent({ organizationId: one })
    expect(await store.agents.create(again.agent, again.deployment)).toBe(false)
    const other = sampleAgent({ organizationId: two })
    expect(await store.agents.create(other.agent, other.deployment)).toBe(true)
    expect(await store.agents.get(one, 'bot')).toEqual(agent)
    expect(await store.agents.get(two, 'bot')).toEqual(other.agent)
    expect(await store.agents.list(one)).toEqual([agent])
    expect(await store.agents.all()).toHaveLength(2)
    await store.agents.setScaling(agent.id, 2, 9, 30)
    expect(await store.agents.get(one, 'bot')).toMatchObject({ minAgents: 2, maxAgents: 9, updatedAt: 30 })
  })

  it('frees the name of an agent that was removed, and forgets it when its last instance has ended', async () => {
    const store = storeOf()
    const { agent, deployment } = sampleAgent({ organizationId: one })
    await store.agents.create(agent, deployment)
    const instance = { agentId: agent.id, deploymentId: deployment.id, readyAt: null, endedAt: null }
    const id = randomUUID()
    await store.agents.addInstance({ id, ...instance, createdAt: 11 })
    await store.agents.instanceReady(id, 12)
    await store.agents.remove(agent.id, 40)
    expect(await store.agents.get(one, 'bot')).toBeUndefined()
    expect(await store.agents.openInstances(agent.id)).toEqual([
      { id, ...instance, createdAt: 11, readyAt: 12 },
    ])
    expect(await store.agents.all()).toMatchObject([{ id: agent.id, deletedAt: 40 }])
    expect(await store.agents.latest(one, 'bot')).toMatchObject({ id: agent.id })
    expect(await store.agents.latest(two, 'bot')).toBeUndefined()
    const again = sampleAgent({ organizationId: one })
    expect(await store.agents.create(again.agent, again.deployment)).toBe(true)
    expect(await store.agents.latest(one, 'bot')).toEqual(again.agent)
    await store.agents.instanceEnded(id, 50)
    expect(await store.agents.openInstances(agent.id)).toEqual([])
    expect(await store.agents.all()).toMatchObject([{ id: again.agent.id }])
  })

  it('numbers deployments, and lets one of them take the sessions', async () => {
    const store = storeOf()
    const { agent, deployment } = sampleAgent({ organizationId: one })
    await store.agents.create(agent, deployment)
    await store.agents.activate(agent.id, deployment.id, 15)
    const second = await deploy(agent.id, { image: 'image:2' })
    expect(second).toMatchObject({ number: 2, phase: 'Creating', phaseStartedAt: 20 })
    expect(await store.agents.get(one, 'bot')).toMatchObject({
      desiredDeploymentId: second.id,
      activeDeploymentId: deployment.id,
    })
    await store.agents.activate(agent.id, second.id, 25)
    const open = await store.agents.openDeployments(agent.id)
    expect(open.map(({ number, phase }) => [number, phase])).toEqual([
      [1, 'Draining'],
      [2, 'Active'],
    ])
    const failure = { code: 'c', message: 'm', detail: 'd', exitCode: 1 }
    const third = await deploy(agent.id, { image: 'image:3' })
    await store.agents.setPhase(third.id, 'Failed', 30, failure, { started: 2, restarts: 1 })
    await store.agents.setPhase(deployment.id, 'Retired', 31)
    expect(third.counts).toEqual({ started: 0, restarts: 0 })
    expect(await store.agents.deployment(agent.id, third.id)).toMatchObject({
      ...{ phase: 'Failed', failure },
      counts: { started: 2, restarts: 1 },
    })
    expect(await store.agents.deployment(randomUUID(), third.id)).toBeUndefined()
    expect((await store.agents.openDeployments(agent.id)).map(({ number }) => number)).toEqual([2])
    const page = await store.agents.deployments(agent.id, { limit: 2, offset: 0 })
    expect(page.deployments.map(({ number }) => number)).toEqual([3, 2])
    expect(page.total).toBe(3)
  })

  it('finds what was active before, and who needs what', async () => {
    const store = storeOf()
    const [buildId, old] = [randomUUID(), randomUUID()]
    const { agent, deployment } = sampleAgent({ organizationId: one }, { buildId: old, secretSet: 'keys' })
    for (const [name, type] of [
      ['keys', 'secret'],
      ['pull', 'imagePullSecret'],
    ] as const) {
      const set = { organizationId: one, name, type, region: 'local', createdAt: 1, updatedAt: 1 }
      await store.secrets.put(set, [], { maxSecrets: 1, maxBytes: 1, maxKnownBytes: 1 })
    }
    await store.agents.create(agent, deployment)
    await store.agents.activate(agent.id, deployment.id, 15)
    const same = await deploy(agent.id, { buildId: old })
    const failed = await deploy(agent.id, { image: 'image:2' })
    await store.agents.activate(agent.id, same.id, 21)
    await store.agents.setPhase(failed.id, 'Failed', 22)
    const last = await deploy(agent.id, { image: 'image:3', buildId, imagePullSecretSet: 'pull' })
    const ids = async (before: number, limit = 9) =>
      (await store.agents.activeBefore(agent.id, before, limit)).map(({ id }) => id)
    expect(await ids(last.number)).toEqual([same.id, deployment.id])
    expect(await ids(last.number, 1)).toEqual([same.id])
    expect(await ids(1)).toEqual([])
    expect(await store.agents.hasRun(agent.id, old)).toBe(true)
    expect(await store.agents.hasRun(agent.id, randomUUID())).toBe(false)
    expect(await store.agents.users(one, { buildId })).toEqual(['bot'])
    expect(await store.agents.users(two, { buildId })).toEqual([])
    expect(await store.agents.users(one, { secretSet: 'keys' })).toEqual(['bot'])
    expect(await store.agents.users(one, { secretSet: 'pull' })).toEqual(['bot'])
    await store.agents.setPhase(deployment.id, 'Retired', 23)
    expect(await store.agents.users(one, { secretSet: 'keys' })).toEqual([])
  })

  it('keeps sessions from their start to their one end', async () => {
    const store = storeOf()
    const agentId = randomUUID()
    const session = sampleSession({ organizationId: one, agentId, coldStart: true })
    await store.sessions.create(session)
    expect(await store.sessions.get(one, session.id)).toEqual(session)
    expect(await store.sessions.get(two, session.id)).toBeUndefined()
    await store.sessions.started(session.id, 12.5, 101)
    await store.sessions.tokenUsed(session.id, true)
    await store.sessions.connected(session.id, 105)
    await store.sessions.connected(session.id, 106)
    expect(await store.sessions.open(session.instanceId)).toMatchObject([
      { state: 'active', connectedAt: 105, startMs: 12.5, tokenUsed: true },
    ])
    const outcome = { result: 'ok', cause: 'client_left', message: 'bye' } as const
    expect(await store.sessions.end(session.id, outcome, 120)).toBe(true)
    expect(await store.sessions.end(session.id, { ...outcome, cause: 'stopped' }, 130)).toBe(false)
    await store.sessions.connected(session.id, 140)
    expect(await store.sessions.get(one, session.id)).toMatchObject({ state: 'ended', outcome, endedAt: 120 })
    expect(await store.sessions.open(session.instanceId)).toEqual([])
    expect(await store.sessions.openOf(agentId)).toEqual([])
    await store.sessions.prune(120)
    expect(await store.sessions.get(one, session.id)).toBeDefined()
    await store.sessions.prune(121)
    expect(await store.sessions.get(one, session.id)).toBeUndefined()
  })

  it('forgets what is long over: instances, and removed agents of which nothing is left', async () => {
    const store = storeOf()
    const { agent, deployment } = sampleAgent({ organizationId: one })
    await store.agents.create(agent, deployment)
    const instance = { agentId: agent.id, deploymentId: deployment.id, readyAt: null, endedAt: null }
    const [first, second] = [randomUUID(), randomUUID()]
    for (const id of [first, second]) await store.agents.addInstance({ id, ...instance, createdAt: 11 })
    await store.agents.instanceEnded(first, 20)
    await store.agents.prune(30)
    expect(await store.agents.get(one, 'bot')).toEqual(agent)
    expect(await store.agents.openInstances(agent.id)).toMatchObject([{ id: second }])
    const session = sampleSession({ organizationId: one, agentId: agent.id })
    await store.sessions.create(session)
    await store.agents.remove(agent.id, 40)
    // Its instance still runs, then its session is still to be seen.
    await store.agents.prune(50)
    await store.agents.instanceEnded(second, 45)
    await store.agents.prune(50)
    expect(await store.agents.latest(one, 'bot')).toMatchObject({ id: agent.id })
    await store.sessions.end(session.id, { result: 'ok', cause: 'stopped', message: '' }, 45)
    await store.sessions.prune(50)
    await store.agents.prune(40)
    expect(await store.agents.latest(one, 'bot')).toMatchObject({ id: agent.id })
    await store.agents.prune(50)
    expect(await store.agents.latest(one, 'bot')).toBeUndefined()
    expect((await store.agents.deployments(agent.id, { limit: 5, offset: 0 })).total).toBe(0)
  })

  it('lists sessions, newest first, by whatever is asked', async () => {
    const store = storeOf()
    const agentId = randomUUID()
    const deploymentId = randomUUID()
    const made = Array.from({ length: 6 }, (_, index) =>
      sampleSession({
        ...{
          organizationId: one,
          agentId,
          createdAt: 100 + Math.floor(index / 2),
          coldStart: index % 3 === 0,
        },
        ...(index > 3 && { deploymentId }),
      }),
    )
    for (const [index, session] of made.entries()) {
      await store.sessions.create(session)
      if (index > 0) await store.sessions.started(session.id, index * 1000, 200)
    }
    const end = { result: 'ok', cause: 'stopped', message: '' } as const
    for (const { id } of made.slice(0, 2)) await store.sessions.end(id, end, 300)
    await store.sessions.create(sampleSession({ organizationId: one, agentId: randomUUID() }))
    const list = async (filter: Parameters<Store['sessions']['list']>[1]) => {
      const { sessions, total } = await store.sessions.list(agentId, filter, { limit: 10, offset: 0 })
      expect(total).toBe(sessions.length)
      return new Set(sessions.map(({ id }) => made.findIndex((session) => session.id === id)))
    }
    expect(await list({})).toEqual(new Set([0, 1, 2, 3, 4, 5]))
    expect(await list({ status: 'ended' })).toEqual(new Set([0, 1]))
    expect(await list({ status: 'active' })).toEqual(new Set([2, 3, 4, 5]))
    expect(await list({ deploymentId })).toEqual(new Set([4, 5]))
    expect(await list({ coldStart: true })).toEqual(new Set([0, 3]))
    expect(await list({ startTime: 101, endTime: 101 })).toEqual(new Set([2, 3]))
    expect(await list({ startMsMin: 2000, startMsMax: 4000 })).toEqual(new Set([2, 3, 4]))
    const seen: string[] = []
    let before: { createdAt: number; id: string } | undefined
    do {
      const { sessions } = await store.sessions.list(agentId, {}, { limit: 4, offset: 0, before })
      seen.push(...sessions.map(({ id }) => id))
      before = sessions.length === 4 ? sessions.at(-1) : undefined
    } while (before)
    expect(new Set(seen)).toEqual(new Set(made.map(({ id }) => id)))
    expect(seen).toHaveLength(6)
  })
}
