import { afterAll, beforeAll, expect, it } from 'vitest'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { TalkHouse } from '../testing/talk-house.ts'
import { tellingProject } from '../testing/telling-bots.ts'
import { TellingCaller } from '../testing/telling-caller.ts'

const [AGENT, SECRET_SET] = ['teller', 'teller-secrets']
const [OLD, NEW] = ['open-sesame', 'shut-sesame']

let house: TalkHouse
beforeAll(async () => {
  house = await TalkHouse.open()
  await house.botcli(['secrets', 'set', SECRET_SET, `WORD=${OLD}`])
  await house.deploy({ files: tellingProject('typescript', { agent: AGENT, secretSet: SECRET_SET }) })
}, 300_000)
afterAll(() => house.close())

/** Waits until so many lines of a session begin so, and gives them. */
async function linesOf(sessionId: string, beginning: string, count: number): Promise<readonly string[]> {
  return until(async () => {
    const texts = (await house.logs(AGENT, sessionId)).map(({ log }) => log)
    const found = texts.filter((text) => text.startsWith(beginning))
    return found.length >= count && found
  }, `${count} lines with ${beginning}`)
}

it('a call keeps the secrets that it began with, later ones have the new; none of them comes into a log', async () => {
  const before = await house.agent(AGENT)
  const first = await TellingCaller.dial(house, AGENT)
  expect((await first.ask('tell')).word).toBe(OLD)
  await first.ask('word')

  await house.botcli(['secrets', 'set', SECRET_SET, `WORD=${NEW}`])
  const after = await until(async () => {
    const agent = await house.agent(AGENT)
    return agent.activeDeploymentId !== before.activeDeploymentId && agent
  }, 'a deployment with the new secrets')
  expect(after.desiredDeploymentId).toBe(after.activeDeploymentId)

  const second = await TellingCaller.dial(house, AGENT)
  expect((await second.ask('tell')).word).toBe(NEW)
  await second.ask('word')
  expect(await house.session(AGENT, second.sessionId)).toMatchObject({
    deploymentId: after.activeDeploymentId,
  })

  expect((await first.ask('tell')).word).toBe(OLD)
  await first.ask('word')
  expect(await house.session(AGENT, first.sessionId)).toMatchObject({
    ...{ state: 'active', deploymentId: before.activeDeploymentId },
  })
  await linesOf(first.sessionId, 'the word is still ', 2)
  await linesOf(second.sessionId, 'the word is still ', 1)
  for (const caller of [first, second]) {
    caller.hangUp()
    expect(await house.ended(AGENT, caller.sessionId)).toMatchObject({ completionStatus: 'client_left' })
  }
  const everything = JSON.stringify([await house.logs(AGENT), house.told])
  expect(everything).not.toContain(OLD)
  expect(everything).not.toContain(NEW)
})
