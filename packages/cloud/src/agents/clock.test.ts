import { afterEach, beforeEach, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'

const HOUR_MS = 3_600_000

let house: AgentHouse
let offMs: number
beforeEach(async () => {
  offMs = 0
  house = await AgentHouse.open({
    clock: () => Date.now() + offMs,
    config: { agents: { startSeconds: 30, idleSeconds: 2 } },
  })
})
afterEach(() => house.close())

it('an instance that ended is started again, though the clock was set back', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
  house.engine.running[0]?.crash({ code: 1 })
  await until(async () => (await house.agent('echo')).currentRevision.health.lastExitCode === 1, 'its end')
  offMs = -HOUR_MS
  await until(() => house.engine.running.length === 1, 'another one')
})

it('an instance that nobody needs is stopped, though the clock was set back', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 1 } })
  expect(house.engine.running).toHaveLength(1)
  offMs = -HOUR_MS
  await until(() => house.engine.running.length === 0, 'it to be stopped')
})

it('a bot that loads is not given up because the clock was set forward', async () => {
  house.engine.scripts.set('registry.test/bot:1', { waits: true })
  await house.create('slow', { autoScaling: { minAgents: 1, maxAgents: 1 } })
  const instance = await until(() => house.engine.running[0], 'an instance')
  offMs = HOUR_MS
  // It is looked at again and again meanwhile.
  for (let look = 0; look < 5; look += 1) {
    await house.update('slow', { autoScaling: { maxAgents: 2 + look } })
    expect(await house.agent('slow')).toMatchObject({ deployment: { phase: 'Validating', failure: null } })
  }
  instance.becomeReady()
  await house.phase('slow', 'Active')
  expect(house.engine.started).toHaveLength(1)
  const told = (await house.logs('slow')).find(({ log }) => log.includes('is ready after'))?.log
  expect(Number(/after ([\d.-]+) s/.exec(told ?? '')?.[1])).toBeLessThan(HOUR_MS / 1000)
})
