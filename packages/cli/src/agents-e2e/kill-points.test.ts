import type { SessionRecord } from '@botcli/protocol/cloud'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { CloudHouse, type KillPoint } from '../testing/cloud-house.ts'
import { COUNTING_BOTS } from '../testing/counting-bots.ts'
import { CountingCall } from '../testing/counting-call.ts'

// Real processes take their time on a machine that has much to do.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const AGENT = 'counting'
const MOST_SESSIONS = 4

let house: CloudHouse
/** A call that is held all the time, whatever is killed. */
let steady: CountingCall
beforeAll(async () => {
  house = await CloudHouse.open()
  const buildId = await house.build(COUNTING_BOTS.typescript)
  await house.deployed(AGENT, {
    buildId,
    autoScaling: { minAgents: 1, maxAgents: 1 },
    sessionsPerInstance: MOST_SESSIONS,
  })
  steady = await CountingCall.begin(house, AGENT)
  house.noteRelay()
})
afterAll(() => house.close())

/** What was begun when the cloud was killed. */
interface Begun {
  start?: { readonly sessionId: string; readonly wsUrl: string }
  call?: CountingCall
}

/** A session from its start to its end. */
async function aSession(begun: Begun): Promise<void> {
  const { status, body } = await house.startSession(AGENT)
  if (status !== 200) return
  begun.start = body
  begun.call = await CountingCall.join(body.sessionId, body.wsUrl)
  house.noteRelay()
  await begun.call.goesOn()
  await begun.call.hangUp()
}

async function aDeployment(): Promise<void> {
  await house.send('POST', `/v1/agents/${AGENT}`, { forceRedeploy: true })
}

const sessionPoints: readonly (readonly [string, KillPoint])[] = [
  ['before a session is written down', { when: 'before', sql: 'INSERT INTO sessions' }],
  ['before the instance is asked for it', { when: 'after', sql: 'INSERT INTO sessions' }],
  ['before the caller is answered', { when: 'before', sql: 'UPDATE sessions SET start_ms' }],
  ['when its token was redeemed', { when: 'before', sql: 'UPDATE sessions SET token_used' }],
  ['after its token was redeemed', { when: 'after', sql: 'UPDATE sessions SET token_used' }],
  ['before its caller counts as there', { when: 'before', sql: `UPDATE sessions SET state = 'active'` }],
  ['after its caller counts as there', { when: 'after', sql: `UPDATE sessions SET state = 'active'` }],
  ['before its words are kept', { when: 'before', sql: 'INSERT INTO entries', value: 'line 1 of' }],
  ['after its words are kept', { when: 'after', sql: 'INSERT INTO entries', value: 'line 1 of' }],
  ['before its end is written down', { when: 'before', sql: `UPDATE sessions SET state = 'ended'` }],
  ['after its end is written down', { when: 'after', sql: `UPDATE sessions SET state = 'ended'` }],
]

const deployPoints: readonly (readonly [string, KillPoint])[] = [
  ['while it is written down', { when: 'after', sql: 'INSERT INTO deployments' }],
  ['before its build is told', { when: 'before', sql: 'INSERT INTO entries', value: 'It runs build' }],
  ['before it is rolled out', { when: 'before', sql: 'UPDATE deployments SET phase', value: 'Validating' }],
  ['before its instance is written down', { when: 'before', sql: 'INSERT INTO instances' }],
  ['before its instance is started', { when: 'after', sql: 'INSERT INTO instances' }],
  ['before its instance is ready', { when: 'before', sql: 'INSERT INTO entries', value: 'ready bot=' }],
  ['while it takes over', { when: 'before', sql: 'UPDATE deployments SET was_active' }],
  ['before the old instance is gone', { when: 'before', sql: 'UPDATE instances SET ended_at' }],
  [
    'before the old one is retired',
    { when: 'before', sql: 'UPDATE deployments SET phase', value: 'Retired' },
  ],
]

/** Everything is as it should be, with one session. */
async function expectOrder(): Promise<void> {
  await steady.goesOn()
  const agent = await until(async () => {
    const now = await house.agent(AGENT)
    const folders = await house.instanceFolders()
    const ids = now.instances.map(({ id }) => id).sort()
    const isQuiet = now.instances.every(({ state }) => state !== 'stopping' && state !== 'starting')
    return now.ready && now.activeSessionCount === 1 && isQuiet && ids.join() === folders.join() && now
  }, 'the agent to be in order').catch(async (error: unknown) => {
    const seen = [await house.agent(AGENT), await house.instanceFolders(), await house.sessions(AGENT)]
    throw new Error(`${String(error)}: ${JSON.stringify(seen, null, 1)}\n${house.told.slice(-3000)}`)
  })
  expect(agent.instances.reduce((sum, { sessions }) => sum + sessions, 0)).toBe(1)
  expect(agent.errors).toEqual([])
  const open = (await house.sessions(AGENT)).filter(({ state }) => state !== 'ended')
  expect(open.map(({ sessionId, state }) => ({ sessionId, state }))).toEqual([
    { sessionId: steady.sessionId, state: 'active' },
  ])
  for (const { state, outcome, endedAt, completionStatus } of await house.sessions(AGENT)) {
    if (state !== 'ended') continue
    expect(endedAt).not.toBeNull()
    expect(outcome?.cause).toBe(completionStatus)
  }
  const phases = (await house.deployments(AGENT)).map(({ id, phase }) => ({ id, phase }))
  const pinned = (await house.session(AGENT, steady.sessionId)).deploymentId
  for (const { id, phase } of phases) {
    if (id === agent.activeDeploymentId) expect(phase).toBe('Active')
    else expect(phase).toBe(id === pinned ? 'Draining' : 'Retired')
  }
}

/** Exactly as many sessions can be started as there may be. */
async function expectCapacity(): Promise<void> {
  const answers = await Promise.all(
    Array.from({ length: MOST_SESSIONS + 2 }, () => house.startSession(AGENT)),
  )
  const taken = answers.filter(({ status }) => status === 200)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.map(({ status, body }) => `${status} ${body.code}`)).toEqual(
    Array.from({ length: 3 }, () => '429 DEPLOY-AT-CAPACITY'),
  )
  for (const { headers } of refused) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  await Promise.all(taken.map(({ body }) => stop(body.sessionId)))
}

async function stop(sessionId: string): Promise<SessionRecord> {
  const { status } = await house.request(`/v1/agents/${AGENT}/sessions/${sessionId}`, { method: 'DELETE' })
  expect([200, 409]).toContain(status)
  return house.ended(AGENT, sessionId)
}

/** The cloud is back; what was begun can go on where it was, or is over for one true cause. */
async function takeUp({ start, call }: Begun): Promise<void> {
  if (call) {
    if (!call.client.closed) await call.goesOn()
    await call.hangUp()
    const { outcome } = await house.ended(AGENT, call.sessionId)
    expect(outcome).toMatchObject({ result: 'ok', cause: 'client_left' })
    expect(call.isComplete).toBe(true)
  }
  if (start && !call) {
    // The start was answered, so its address has to hold: whoever has used it went down with the cloud.
    const joined = await CountingCall.join(start.sessionId, start.wsUrl)
    await joined.goesOn()
    await joined.hangUp()
    expect(await house.ended(AGENT, start.sessionId)).toMatchObject({ completionStatus: 'client_left' })
  }
  for (const { sessionId, state } of await house.sessions(AGENT)) {
    if (state !== 'ended' && sessionId !== steady.sessionId) await stop(sessionId)
  }
}

describe('a cloud that is killed while a session is', () => {
  it.each(sessionPoints)('%s', async (_, point) => {
    const begun: Begun = {}
    await house.killAt(point)
    await aSession(begun).catch(() => {})
    await house.gone()
    await steady.goesOn()
    await house.start()
    await takeUp(begun)
    await expectOrder()
    await expectCapacity()
  })
})

describe('a cloud that is killed while a deployment is made,', () => {
  it.each(deployPoints)('%s', async (_, point) => {
    await house.killAt(point)
    await aDeployment().catch(() => {})
    await house.gone()
    await steady.goesOn()
    await house.start()
    await expectOrder()
    await expectCapacity()
  })
})

it('has lost nothing of all this in the log, and told nothing twice', async () => {
  await steady.hangUp()
  expect(await house.ended(AGENT, steady.sessionId)).toMatchObject({ completionStatus: 'client_left' })
  expect(steady.isComplete).toBe(true)
  const entries = await until(async () => {
    const found = await house.log(AGENT, `&sessionId=${steady.sessionId}`)
    return found.some(({ log }) => log === `last of ${steady.sessionId}`) && found
  }, 'the last line')
  const lines = entries.map(({ log }) => log).filter((log) => log.startsWith('line '))
  expect(lines).toEqual(lines.map((_, index) => `line ${index + 1} of ${steady.sessionId}`))
  expect(new Set(entries.map(({ source }) => source))).toEqual(new Set(['run']))
  const all = await house.log(AGENT)
  expect(all.map(({ id }) => id)).toEqual(all.map((_, index) => index + 1))
  for (const { id } of await house.deployments(AGENT)) {
    const sources = all.filter(({ deploymentId }) => deploymentId === id).map(({ source }) => source)
    expect(sources[0]).toBe('build')
    expect(sources.lastIndexOf('build')).toBeLessThan(sources.indexOf('start'))
    expect(sources.indexOf('start')).toBeLessThan(sources.indexOf('run'))
  }
})

it('leaves nothing behind once its agents are removed and it is stopped', async () => {
  await house.request(`/v1/agents/${AGENT}`, { method: 'DELETE' })
  await until(async () => (await house.instanceFolders()).length === 0, 'the folders of instances to go')
  await house.stop()
  await until(async () => (await house.processes()).length === 0, 'every process to end')
})
