import { AGENT_PROFILES } from '@botcli/protocol/cloud'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'

const MORE = 'A larger agent_profile gives it more.'

describe('the memory of an instance', () => {
  let house: AgentHouse
  beforeEach(async () => {
    house = await AgentHouse.open()
  })
  afterEach(() => house.close())

  it('has room for more than the bot, so that the runner ends that before the kernel does', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const [instance] = house.engine.running
    const { limits, settings } = instance?.spec ?? {}
    expect(limits?.memoryBytes).toBe(AGENT_PROFILES['agent-1x'].memoryBytes)
    expect(settings?.maxMemoryBytes).toBe(768 * 1024 ** 2)
  })

  it('that is used up is told: in the session, in the log and of the agent, with what gives it more', async () => {
    await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
    const { id, instance } = await house.session('echo')
    instance.crash({ signal: 'SIGKILL', outOfMemory: true })
    const next = await until(() => house.engine.running.find((one) => one !== instance), 'another instance')
    await until(async () => (await house.agent('echo')).currentRevision.readyReplicas === 1, 'it to be ready')
    house.engine.scripts.set('registry.test/bot:1', { waits: true })
    next.crash({ signal: 'SIGKILL', outOfMemory: true })
    await until(async () => !(await house.agent('echo')).available, 'the end of the only instance, once more')
    const { errors, conditions } = await house.agent('echo')
    const down =
      'The agent takes no sessions: its instances run out of memory, of which a larger agent_profile gives them more.'
    expect(errors).toEqual([{ code: 'OOMKilled', message: down }])
    expect(conditions).toContainEqual(expect.objectContaining({ reason: 'OOMKilled', message: down }))
    const session = await house.ended('echo', id)
    expect(session.outcome).toMatchObject({
      ...{ cause: 'instance_lost', message: `Its instance ran out of memory. ${MORE}` },
    })
    const texts = (await house.logs('echo')).map(({ log }) => log)
    expect(texts).toContain(`Instance ${instance.id.slice(0, 8)} ran out of memory. ${MORE}`)
  })
})
