import type { AgentLogEntry } from '@botcli/protocol/cloud'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'

const DAY_MS = 24 * 60 * 60_000

let house: AgentHouse
let past: number
beforeEach(async () => {
  past = 0
  house = await AgentHouse.open({ clock: () => Date.now() - past })
})
afterEach(() => house.close())

const build = async (): Promise<string> => {
  const made = await house.fixture.build({ Dockerfile: 'RUN echo the bot is made' })
  return (await house.fixture.ended(made.build.id)).id
}
const told = (name: string): Promise<readonly AgentLogEntry[]> => house.logs(name, '&source=build')

it('an old build is told in the log of a new agent, at the time when it is deployed', async () => {
  past = 40 * DAY_MS
  const buildId = await build()
  past = 0
  const before = Date.now()
  await house.deployed('echo', { image: undefined, buildId })
  const entries = await told('echo')
  expect(entries.map(({ log }) => log)).toContain('the bot is made')
  for (const { timestamp } of entries) expect(Date.parse(timestamp)).toBeGreaterThanOrEqual(before)
})

it('a build is told in full once, and by its id after that', async () => {
  const buildId = await build()
  await house.deployed('echo', { image: undefined, buildId })
  const first = (await told('echo')).length
  await house.update('echo', { forceRedeploy: true })
  await house.phase('echo', 'Active')
  const again = (await told('echo')).slice(first)
  expect(again.map(({ log }) => log)).toEqual([`It runs build ${buildId}, which was deployed here before.`])
})
