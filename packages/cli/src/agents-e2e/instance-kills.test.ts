import type { AgentDetails } from '@botcli/protocol/cloud'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { CloudHouse } from '../testing/cloud-house.ts'
import { COUNTING_BOTS } from '../testing/counting-bots.ts'
import { CountingCall } from '../testing/counting-call.ts'

// Real processes take their time on a machine that has much to do.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const AGENT = 'counting'
/** Takes its time when an instance loads it first, so that there is some to kill one before it is ready. */
const SLOW_BOT = {
  ...COUNTING_BOTS.typescript,
  'bot.ts': `import { existsSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
${COUNTING_BOTS.typescript['bot.ts']}
const mark = homedir() + '/was-loaded'
if (!existsSync(mark)) {
  writeFileSync(mark, '')
  await new Promise((resolve) => setTimeout(resolve, 4000))
}
`,
}

const calls: CountingCall[] = []
let house: CloudHouse
beforeAll(async () => {
  house = await CloudHouse.open()
  const buildId = await house.build(SLOW_BOT)
  const autoScaling = { minAgents: 1, maxAgents: 2 }
  await house.deployed(AGENT, { buildId, autoScaling, sessionsPerInstance: 2 })
})
afterAll(() => house.close())
// What one test leaves behind would be in the way of the next.
afterEach(async () => void (await Promise.all(calls.splice(0).map((call) => call.hangUp()))))

/** A call, and the instance that has it. */
async function begin(): Promise<{ readonly call: CountingCall; readonly instanceId: string }> {
  const call = await CountingCall.begin(house, AGENT)
  calls.push(call)
  house.noteRelay()
  await call.goesOn()
  const { instanceId } = await house.session(AGENT, call.sessionId)
  return { call, instanceId }
}

/** Deploys anew, and waits until an instance of that is being started. */
async function deploying(): Promise<string> {
  const { body } = await house.send<AgentDetails>('POST', `/v1/agents/${AGENT}`, { forceRedeploy: true })
  return until(async () => {
    const { instances } = await house.agent(AGENT)
    const own = instances.find(({ deploymentId }) => deploymentId === body.desiredDeploymentId)
    return own !== undefined && (await house.processesOf(own.id)).length > 0 && own.id
  }, 'an instance of the new deployment')
}

async function expectLost(call: CountingCall, message: RegExp): Promise<void> {
  const { outcome, durationSeconds } = await house.ended(AGENT, call.sessionId)
  expect(outcome).toMatchObject({
    result: 'failed',
    cause: 'instance_lost',
    message: expect.stringMatching(message),
  })
  expect(durationSeconds).toBeGreaterThan(0)
  await call.client.whenClosed()
  await call.hangUp()
}

/** Exactly as many sessions can be started as there may be, and nothing is left of what was before. */
async function expectOrder(): Promise<void> {
  await until(async () => {
    const { activeSessionCount, instances, activeDeploymentReady } = await house.agent(AGENT)
    const ids = instances.map(({ id }) => id).sort()
    const isQuiet = instances.every(({ state }) => state === 'ready')
    const folders = await house.instanceFolders()
    return activeSessionCount === 0 && activeDeploymentReady && isQuiet && ids.join() === folders.join()
  }, 'the agent to be in order')
  const answers = await Promise.all(Array.from({ length: 6 }, () => house.startSession(AGENT)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429, 429])
  for (const { status, body } of answers) {
    if (status !== 200) continue
    await house.request(`/v1/agents/${AGENT}/sessions/${body.sessionId}`, { method: 'DELETE' })
    expect(await house.ended(AGENT, body.sessionId)).toMatchObject({ completionStatus: 'stopped' })
  }
}

it('an instance that is killed in a call: the call is lost, and another instance is there', async () => {
  const { call, instanceId } = await begin()
  await house.killInstance(instanceId)
  await expectLost(call, /was killed \(SIGKILL\)|ended/)
  await expectOrder()
  expect((await house.agent(AGENT)).instances.map(({ id }) => id)).not.toContain(instanceId)
})

it('an instance that is killed while its session ends: the session ends for one cause', async () => {
  const { call, instanceId } = await begin()
  await Promise.all([call.hangUp(), house.killInstance(instanceId)])
  expect(['client_left', 'instance_lost']).toContain(
    (await house.ended(AGENT, call.sessionId)).completionStatus,
  )
  await expectOrder()
})

it('an instance that is killed before it is ready: the deployment fails, and the one before goes on', async () => {
  const before = (await house.agent(AGENT)).activeDeploymentId
  const { call } = await begin()
  await house.killInstance(await deploying())
  const agent = await until(async () => {
    const now = await house.agent(AGENT)
    return now.deployment.phase === 'Failed' && now
  }, 'the deployment to fail')
  expect(agent.activeDeploymentId).toBe(before)
  expect(agent.deployment.failure?.message).toMatch(/(was killed \(SIGKILL\)|ended).* before it was ready/)
  await call.goesOn()
  await call.hangUp()
  expect(await house.ended(AGENT, call.sessionId)).toMatchObject({ completionStatus: 'client_left' })
  await expectOrder()
})

it('an instance that is killed while it drains: its call is lost, and its deployment retired', async () => {
  const { call, instanceId } = await begin()
  const { deploymentId } = await house.session(AGENT, call.sessionId)
  await deploying()
  await house.settled(AGENT)
  await call.goesOn()
  await house.killInstance(instanceId)
  await expectLost(call, /was killed \(SIGKILL\)|ended/)
  await until(async () => {
    const deployment = (await house.deployments(AGENT)).find(({ id }) => id === deploymentId)
    return deployment?.phase === 'Retired'
  }, 'the old deployment to be retired')
  await expectOrder()
})

it('both are killed in a call: the session ends, and the agent is not taken for one that cannot start', async () => {
  const { call, instanceId } = await begin()
  await house.kill()
  await house.killInstance(instanceId)
  await house.start()
  const agent = await house.agent(AGENT)
  expect(agent.errors.map(({ code }) => code)).not.toContain('StartFailed')
  await expectLost(call, /ended|was killed/)
  await expectOrder()
})

it('both are killed before the instance is ready: the roll-out is taken up again', async () => {
  const instanceId = await deploying()
  await house.kill()
  await house.killInstance(instanceId)
  await house.start()
  const agent = await house.settled(AGENT)
  expect(agent.activeDeploymentId).toBe(agent.desiredDeploymentId)
  await expectOrder()
})

it('the relay is killed: its calls end, and the next one finds another relay', async () => {
  const { call } = await begin()
  for (const pid of house.relays) process.kill(pid, 'SIGKILL')
  const { outcome } = await house.ended(AGENT, call.sessionId)
  expect(['client_left', 'client_lost']).toContain(outcome?.cause)
  await call.hangUp()
  const next = await begin()
  await next.call.hangUp()
  expect(await house.ended(AGENT, next.call.sessionId)).toMatchObject({ completionStatus: 'client_left' })
  await expectOrder()
})

it('an agent that is removed, and a cloud that is killed right then, leave nothing behind', async () => {
  const { call } = await begin()
  await house.killAt({ when: 'after', sql: 'UPDATE agents SET deleted_at' })
  await house.request(`/v1/agents/${AGENT}`, { method: 'DELETE' }).catch(() => {})
  await house.gone()
  await call.goesOn()
  await house.start()
  await call.goesOn()
  expect((await house.startSession(AGENT)).status).toBe(404)
  // Who goes on with a call of it can still be found.
  expect(await house.sessions(AGENT)).toContainEqual(
    expect.objectContaining({ sessionId: call.sessionId, state: 'active' }),
  )
  expect(await house.log(AGENT, `&sessionId=${call.sessionId}`)).not.toEqual([])
  await call.hangUp()
  expect(await house.ended(AGENT, call.sessionId)).toMatchObject({ completionStatus: 'client_left' })
  await until(async () => (await house.instanceFolders()).length === 0, 'the folders of instances to go')
  await house.stop()
  await until(async () => (await house.processes()).length === 0, 'every process to end')
})
