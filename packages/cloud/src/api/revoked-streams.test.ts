import type { CreateKeyResponse } from '@botcli/protocol/cloud'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { AgentHouse } from '../testing/agent-house.ts'
import { EventSource } from '../testing/event-source.ts'

let house: AgentHouse
beforeEach(async () => {
  house = await AgentHouse.open()
})
afterEach(() => house.close())

const newKey = async (name: string): Promise<CreateKeyResponse> =>
  (await house.fixture.send('POST', '/v1/keys', { name, family: 'private' })).body as CreateKeyResponse

/** Reads the same log with a key that is revoked, and with one that is not. */
async function readWithTwo(
  path: string,
  accept = 'text/event-stream',
): Promise<{ cut: EventSource; left: EventSource }> {
  const open = (key: string) =>
    EventSource.open(`${house.fixture.url}${path}`, { authorization: `Bearer ${key}`, accept })
  const { key, record } = await newKey('leaked')
  const [cut, left] = [await open(key), await open((await newKey('kept')).key)]
  await cut.until(() => cut.events.length > 0)
  const { status } = await house.fixture.request(`/v1/keys/${record.id}`, { method: 'DELETE' })
  expect(status).toBe(200)
  await cut.ended()
  expect((await open(key)).response.statusCode).toBe(401)
  return { cut, left }
}

it('a stream of the log of an agent ends with its key', async () => {
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
  const { cut, left } = await readWithTwo('/v1/agents/echo/logs')
  house.engine.running[0]?.say('said after the key was revoked')
  const heard = ({ events }: EventSource) => events.some(({ data }) => data?.includes('said after'))
  await left.until(() => heard(left))
  expect(heard(cut)).toBe(false)
  left.cut()
})

it.each(['text/event-stream', 'text/*'])(
  'a stream of the log of a build ends with its key (%s)',
  async (accept) => {
    const { build } = await house.fixture.build({ Dockerfile: 'RUN while ! test -e go; do sleep 0.05; done' })
    const { left } = await readWithTwo(`/v1/builds/${build.id}/logs`, accept)
    expect(left.response.destroyed).toBe(false)
    left.cut()
  },
)
