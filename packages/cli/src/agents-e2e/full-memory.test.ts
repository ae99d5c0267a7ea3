import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { findCages } from '../../../cloud/src/builders/limits/find-limiter.ts'
import { CloudHouse } from '../testing/cloud-house.ts'
import { COUNTING_BOTS } from '../testing/counting-bots.ts'
import { CountingCall } from '../testing/counting-call.ts'

// Real processes take their time on a machine that has much to do.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const cages = await findCages(['systemd', 'cgroup v2', 'cgroup v1'], [])
const why =
  cages === undefined
    ? ' (the kernel limits nothing here)'
    : cages.name.startsWith('cgroup')
      ? ''
      : ' (systemd ends the whole instance)'

describe.skipIf(why !== '')(`a bot that takes all memory of its instance at once${why}`, () => {
  let house: CloudHouse
  beforeAll(async () => {
    house = await CloudHouse.open()
  })
  afterAll(() => house.close())

  it.each(['typescript', 'python'] as const)('ends alone, and it is said why (%s)', async (language) => {
    const buildId = await house.build(COUNTING_BOTS[language])
    const autoScaling = { minAgents: 1, maxAgents: 1 }
    const { instances } = await house.deployed(language, { buildId, autoScaling, sessionsPerInstance: 2 })
    const other = await CountingCall.begin(house, language)
    onTestFinished(() => other.hangUp())
    const call = await CountingCall.begin(house, language)
    onTestFinished(() => call.hangUp())
    call.ask('fill')
    const { outcome } = await house.ended(language, call.sessionId)
    expect(outcome).toMatchObject({
      ...{ result: 'failed', cause: 'bot_out_of_memory' },
      message: expect.stringMatching(/memory.*agent_profile/),
    })
    const log = (await house.log(language, `&sessionId=${call.sessionId}`)).map((entry) => entry.log)
    expect(log.join('\n')).toMatch(/session over: .*memory.*agent_profile/)
    await other.goesOn()
    const after = (await house.agent(language)).instances
    expect(after.map(({ id }) => id)).toEqual(instances.map(({ id }) => id))
  })
})
