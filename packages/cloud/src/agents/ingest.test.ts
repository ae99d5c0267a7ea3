import { appendFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentLogsResponse } from '@botcli/protocol/cloud'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SqliteAgentLogStore } from '../agent-logs/sqlite-agent-log-store.ts'
import { SqliteDatabase } from '../store/sqlite/database.ts'
import { AgentHouse } from '../testing/agent-house.ts'
import { until } from '../testing/cloud-fixture.ts'
import { EventSource } from '../testing/event-source.ts'
import { logEntry } from '../testing/log-entries.ts'
import type { ScriptedInstance } from '../testing/scripted-engine.ts'

let house: AgentHouse
let instance: ScriptedInstance
beforeEach(async () => {
  house = await AgentHouse.open()
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
  instance = await until(() => house.engine.running[0], 'an instance')
})
afterEach(() => house.close())

const print = (what: string, count: number) => {
  const rest = 'x'.repeat(2000)
  const lines = Array.from({ length: count }, (_, index) => `${what} ${index} ${rest}\n`)
  appendFileSync(instance.outputPath, lines.join(''))
}

it('output that follows an emptied one is there in full, also when the cloud was away meanwhile', async () => {
  print('first', 2200)
  instance.say('come and read')
  await until(() => statSync(instance.outputPath).size === 0, 'the file to be emptied')
  await house.fixture.cloud.close({ deadlineMs: 0 })
  print('second', 2300)
  await house.fixture.open()
  await until(async () => (await house.logs('echo', '&query=second%202299%20')).length > 0, 'the last line')
  const numbers: number[] = []
  for (let cursor = ''; ; ) {
    const path = `/v1/agents/echo/logs?limit=1000&order=asc&query=second${cursor}`
    const { logs, nextCursor } = (await house.fixture.request(path)).body as AgentLogsResponse
    numbers.push(...logs.map(({ log }) => Number(log.split(' ')[1])))
    if (nextCursor === undefined) break
    cursor = `&cursor=${nextCursor}`
  }
  expect(numbers).toEqual(Array.from({ length: 2300 }, (_, index) => index))
})

it('what cannot be taken over is told once, and taken over when it can be again', async () => {
  const told = (message: string) => house.fixture.told.filter((line) => line.includes(message)).length
  const numbers = Array.from({ length: 60 }, (_, index) => `line ${index}`)
  const database = new SqliteDatabase(join(house.fixture.folder, 'logs.db'))
  database.execute(`CREATE TRIGGER full BEFORE INSERT ON entries BEGIN SELECT RAISE(ABORT, 'full'); END`)
  for (const text of numbers) {
    instance.say(text)
    await house.agent('echo')
  }
  await until(() => told('could not be taken over') > 0, 'the failure to be told')
  database.execute('DROP TRIGGER full')
  database.close()
  const texts = await until(async () => {
    const said = (await house.logs('echo')).map(({ log }) => log).filter((text) => text.startsWith('line '))
    return said.length >= numbers.length && said
  }, 'all lines')
  expect(texts).toEqual(numbers)
  expect(told('could not be taken over')).toBe(1)
  expect(told('is taken over again')).toBe(1)
})

it('a removed agent leaves nothing in the logs', async () => {
  const database = new SqliteDatabase(join(house.fixture.folder, 'logs.db'))
  try {
    const logs = () => database.all('SELECT agent_id FROM logs').length
    expect(logs()).toBe(1)
    await house.fixture.request('/v1/agents/echo', { method: 'DELETE' })
    await until(() => instance.isGone, 'its instance to be gone')
    await until(() => logs() === 0, 'its log to be gone')
  } finally {
    database.close()
  }
})

it('a removed agent whose instance crashes leaves nothing in the logs', async () => {
  const database = new SqliteDatabase(join(house.fixture.folder, 'logs.db'))
  const { id } = await house.session('echo')
  let isRemoved = false
  house.engine.remove = async () => {
    // As long as a removed agent could be taken for one of which nothing is left.
    for (let count = 0; count < 5; count += 1) await house.record('echo', id)
    isRemoved = true
  }
  try {
    await house.fixture.request('/v1/agents/echo', { method: 'DELETE' })
    instance.crash({ code: 1 })
    await until(() => isRemoved, 'what its instance has left to be removed')
    await until(() => database.all('SELECT agent_id FROM logs').length === 0, 'its log to be gone')
    await house.fixture.cloud.close({ deadlineMs: 0 })
    expect(database.all('SELECT agent_id FROM logs')).toEqual([])
  } finally {
    database.close()
  }
})

it('who follows the last session of a removed agent hears its last words, and how it ended', async () => {
  const { id } = await house.session('echo')
  await house.fixture.request('/v1/agents/echo', { method: 'DELETE' })
  const url = `${house.fixture.url}/v1/agents/echo/logs`
  const authorization = `Bearer ${house.fixture.keys.privateKey}`
  const ofSession = await EventSource.open(`${url}?sessionId=${id}`, { authorization })
  const ofAgent = await EventSource.open(url, { authorization })
  for (const source of [ofSession, ofAgent]) await source.until(() => source.events.length > 0)
  instance.say('my last words', id)
  instance.crash({ code: 1 })
  for (const source of [ofSession, ofAgent]) await source.ended()
  const heard = ({ events }: EventSource) => events.map(({ data = '' }) => data).join('\n')
  expect(heard(ofSession)).toContain('my last words')
  expect(ofSession.end).toMatchObject({ completionStatus: 'instance_lost' })
  expect(heard(ofAgent)).toContain('my last words')
  expect(heard(ofAgent)).toContain('is retired')
  expect(ofAgent.end).toEqual({ reason: 'agent_removed' })
})

it.each(['application/json', 'text/plain', 'text/event-stream'])(
  'a removed agent of which nothing is left has no log as %s, but its sessions have theirs',
  async (accept) => {
    const { id } = await house.session('echo')
    const ask = async (query: string) => {
      const url = `${house.fixture.url}/v1/agents/echo/logs${query}`
      const headers = { accept, authorization: `Bearer ${house.fixture.keys.privateKey}` }
      const response = await fetch(url, { headers })
      // A stream that goes on is not wanted to its end.
      if (response.status === 200 && query === '') await response.body?.cancel()
      return { status: response.status, text: response.status === 200 ? '' : await response.text() }
    }
    await house.fixture.request('/v1/agents/echo', { method: 'DELETE' })
    expect((await ask('')).status).toBe(200)
    instance.crash({ code: 1 })
    const { text } = await until(async () => {
      const answer = await ask('')
      return answer.status !== 200 && answer
    }, 'the log to be gone')
    expect(JSON.parse(text)).toEqual({ error: 'There is no agent echo.', code: 'NOT_FOUND' })
    expect((await ask(`?sessionId=${id}`)).status).toBe(200)
  },
)

it('who comes back to the log of a removed agent is shown that of the one that has its name now', async () => {
  const url = `${house.fixture.url}/v1/agents/echo/logs`
  const authorization = `Bearer ${house.fixture.keys.privateKey}`
  const before = await EventSource.open(`${url}?limit=1`, { authorization })
  await before.until(() => before.events.some(({ data }) => data !== undefined))
  const last = before.events.findLast(({ data }) => data !== undefined)?.id ?? ''
  before.cut()
  await house.fixture.request('/v1/agents/echo', { method: 'DELETE' })
  await house.deployed('echo', { autoScaling: { minAgents: 1, maxAgents: 1 } })
  const entries = await house.logs('echo')
  const after = await EventSource.open(url, { authorization, 'last-event-id': last })
  const came = () => after.events.filter(({ id, data }) => id !== undefined && data !== undefined)
  await after.until(() => came().length >= entries.length)
  after.cut()
  expect(after.events.find(({ event }) => event !== undefined)).toEqual({
    event: 'reset',
    data: '{"missed":true,"replaced":true}',
  })
  expect(JSON.parse(came()[0]?.data ?? '')).toMatchObject({ id: 1 })
})

it('a session of a removed agent has its log also when the name is taken again', async () => {
  const { id } = await house.session('echo')
  instance.say('still here', id)
  await until(async () => (await house.logs('echo', `&sessionId=${id}`)).length > 0, 'the line')
  await house.fixture.request('/v1/agents/echo', { method: 'DELETE' })
  await house.deployed('echo', { autoScaling: { minAgents: 0, maxAgents: 1 } })
  const texts = (await house.logs('echo', `&sessionId=${id.toUpperCase()}`)).map(({ log }) => log)
  expect(texts).toEqual(['still here'])
  expect((await house.logs('echo')).map(({ log }) => log)).not.toContain('still here')
  await house.deployed('other')
  const { status } = await house.fixture.request(`/v1/agents/other/logs?sessionId=${id}`)
  expect(status).toBe(404)
})

it('a removed agent leaves nothing in the logs when the cloud was killed before it had removed them', async () => {
  const path = join(house.fixture.folder, 'logs.db')
  await house.fixture.cloud.close({ deadlineMs: 0 })
  const limits = { maxBytes: 1_000_000, maxAgeMs: 1_000_000 }
  const left = new SqliteAgentLogStore(path, limits)
  await left.append('an agent that was', [logEntry()])
  await left.close()
  await house.fixture.open()
  const database = new SqliteDatabase(path)
  try {
    await until(
      () =>
        database.all('SELECT 1 FROM logs').length === 1 && database.all('SELECT 1 FROM entries').length > 0,
      'only the log of the agent that is there',
    )
  } finally {
    database.close()
  }
})

it.each(['application/json', 'text/plain', 'text/event-stream'])(
  'a session that never was has no log as %s',
  async (accept) => {
    const { id } = await house.session('echo')
    const ask = (sessionId: string) =>
      fetch(`${house.fixture.url}/v1/agents/echo/logs?sessionId=${sessionId}`, {
        headers: { accept, authorization: `Bearer ${house.fixture.keys.privateKey}` },
      })
    const unknown = await ask('00000000-0000-4000-8000-000000000000')
    expect(unknown.status).toBe(404)
    expect(await unknown.json()).toMatchObject({
      code: 'NOT_FOUND',
      error: expect.stringContaining('no session'),
    })
    const known = await ask(id)
    expect(known.status).toBe(200)
    await known.body?.cancel()
  },
)
