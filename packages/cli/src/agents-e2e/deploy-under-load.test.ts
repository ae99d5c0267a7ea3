import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { CloudHouse } from '../testing/cloud-house.ts'
import { COUNTING_BOTS } from '../testing/counting-bots.ts'
import { CountingCall } from '../testing/counting-call.ts'

// Real processes take their time on a machine that has much to do.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const AGENT = 'counting'
const CALLERS = 4

let house: CloudHouse
beforeAll(async () => {
  house = await CloudHouse.open()
  const buildId = await house.build(COUNTING_BOTS.typescript)
  const autoScaling = { minAgents: 1, maxAgents: 2 }
  await house.deployed(AGENT, { buildId, autoScaling, sessionsPerInstance: 3 })
})
afterAll(() => house.close())

/** Callers that start sessions all the time, and what became of them. */
class Load {
  readonly calls: CountingCall[] = []
  readonly refusals: string[] = []
  readonly faults: string[] = []
  #isOver = false
  readonly #work: Promise<unknown>

  constructor() {
    this.#work = Promise.all(Array.from({ length: CALLERS }, (_, index) => this.#call(index)))
  }

  async end(): Promise<void> {
    this.#isOver = true
    await this.#work
  }

  async #call(index: number): Promise<void> {
    for (let round = 0; !this.#isOver; round += 1) {
      try {
        await this.#once(150 + ((index * 7 + round * 3) % 10) * 50)
      } catch (error) {
        this.faults.push(String(error))
      }
    }
  }

  async #once(ms: number): Promise<void> {
    const { status, headers, body } = await house.startSession(AGENT)
    if (status !== 200) {
      this.refusals.push(`${status} ${Number(headers.get('retry-after')) > 0 ? 'later' : body.error}`)
      return sleep(50)
    }
    const call = await CountingCall.join(body.sessionId, body.wsUrl)
    this.calls.push(call)
    await sleep(ms)
    await call.goesOn()
    await call.hangUp()
  }
}

it('a deployment under load cuts no session, refuses none without a word, and lets the old one retire', async () => {
  const load = new Load()
  const first = (await house.agent(AGENT)).activeDeploymentId
  await until(() => load.calls.length >= CALLERS, 'the first calls')
  const held = await CountingCall.begin(house, AGENT)
  for (let round = 0; round < 2; round += 1) {
    await house.send('POST', `/v1/agents/${AGENT}`, { forceRedeploy: true })
    const { activeDeploymentId, deployment } = await house.settled(AGENT)
    const before = load.calls.length
    await until(() => load.calls.length >= before + 2 * CALLERS, 'calls on the new deployment')
    const sessions = await Promise.all(
      load.calls.slice(before).map(({ sessionId }) => house.session(AGENT, sessionId)),
    )
    // Whoever asks after that is on the new one.
    const later = sessions.filter(({ createdAt }) => createdAt > deployment.phaseStartedAt)
    expect(later.length).toBeGreaterThanOrEqual(CALLERS)
    for (const { deploymentId } of later) expect(deploymentId).toBe(activeDeploymentId)
    await held.goesOn()
  }
  await load.end()
  expect(load.faults).toEqual([])
  expect(load.refusals.filter((refusal) => !/^(?:429|409) later$/.test(refusal))).toEqual([])
  for (const call of load.calls) {
    expect(call.isComplete).toBe(true)
    expect(await house.ended(AGENT, call.sessionId)).toMatchObject({ completionStatus: 'client_left' })
  }
  const phaseOf = async (id: string | null) =>
    (await house.deployments(AGENT)).find((deployment) => deployment.id === id)?.phase
  expect(await phaseOf(first)).toBe('Draining')
  await held.goesOn()
  await held.hangUp()
  expect(await house.ended(AGENT, held.sessionId)).toMatchObject({ completionStatus: 'client_left' })
  expect(await house.session(AGENT, held.sessionId)).toMatchObject({ deploymentId: first })
  await until(async () => (await phaseOf(first)) === 'Retired', 'the first deployment to be retired')
  const phases = (await house.deployments(AGENT)).map(({ phase }) => phase)
  expect(phases).toEqual(['Active', 'Retired', 'Retired'])
})
