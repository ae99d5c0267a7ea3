import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AgentLogsResponse, agentLogsResponse } from '@botcli/protocol/cloud'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentLogServer } from '../testing/agent-log-server.ts'
import { until } from '../testing/cloud-fixture.ts'
import { logEntry } from '../testing/log-entries.ts'
import type { NewLogEntry } from './agent-log-store.ts'
import { SqliteAgentLogStore } from './sqlite-agent-log-store.ts'

const SESSION = randomUUID()
const T0 = 1_700_000_000_000
let folder: string
let logs: SqliteAgentLogStore
let server: AgentLogServer
let agent: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-log-route-'))
  logs = new SqliteAgentLogStore(join(folder, 'logs.db'), {
    maxBytes: 50_000_000,
    maxAgeMs: 1000,
    now: () => T0,
  })
  server = await AgentLogServer.start(logs)
  agent = randomUUID()
})
afterEach(async () => {
  await server.close()
  await logs.close()
  await rm(folder, { recursive: true, force: true })
})

function entries(count: number, from = 1, given: Partial<NewLogEntry> = {}): NewLogEntry[] {
  return Array.from({ length: count }, (_, index) =>
    logEntry({ time: T0, text: `entry ${from + index}`, ...given }),
  )
}

async function read(query = ''): Promise<AgentLogsResponse> {
  const response = await fetch(server.logsUrl(agent, query))
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  return agentLogsResponse.parse(await response.json())
}

async function texts(query = ''): Promise<readonly string[]> {
  return (await read(query)).logs.map(({ log }) => log)
}

async function refused(query: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(server.logsUrl(agent, query), { headers })
  expect([query, response.status]).toEqual([query, 400])
  const body = (await response.json()) as { error: string; code: string }
  expect(body.code).toBe('INVALID_REQUEST')
  return body.error
}

async function plain(query = ''): Promise<string> {
  const response = await fetch(server.logsUrl(agent, query), { headers: { accept: 'text/plain' } })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8'])
  return response.text()
}

describe('a log as JSON', () => {
  it('is empty before the first entry', async () => {
    expect(await read()).toEqual({ total: { value: 0, relation: 'eq' }, logs: [] })
  })

  it('is its newest 10 entries, the newest first, and a cursor for those after', async () => {
    await logs.append(agent, entries(12, 1, { sessionId: SESSION, level: null, source: 'start' }))
    const { logs: got, total, nextCursor } = await read()
    expect(total).toEqual({ value: 12, relation: 'eq' })
    expect(got.map(({ id }) => id)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3])
    expect(got[0]).toEqual({
      id: 12,
      log: 'entry 12',
      timestamp: new Date(T0).toISOString(),
      source: 'start',
      level: null,
      deploymentId: null,
      instanceId: null,
      sessionId: SESSION,
    })
    const rest = await read(`?cursor=${nextCursor}`)
    expect(rest.logs.map(({ id }) => id)).toEqual([2, 1])
    expect([rest.total.value, rest.nextCursor]).toEqual([12, undefined])
  })

  it.each(['asc', 'desc'])(
    'is walked by cursors that do not skip or repeat while it grows (%s)',
    async (order) => {
      await logs.append(agent, entries(300))
      const seen: number[] = []
      let query = `?limit=31&order=${order}`
      for (let round = 0; query !== ''; round += 1) {
        const page = await read(query)
        seen.push(...page.logs.map(({ id }) => id))
        if (round < 5) await logs.append(agent, entries(7, 301 + round * 7))
        query = page.nextCursor === undefined ? '' : `?limit=31&order=${order}&cursor=${page.nextCursor}`
      }
      const ids = Array.from({ length: order === 'asc' ? 335 : 300 }, (_, index) => index + 1)
      expect(seen).toEqual(order === 'asc' ? ids : ids.toReversed())
    },
  )

  it('takes offsets and every limit from 1 to 10000', async () => {
    await logs.append(agent, entries(10_002))
    expect(await texts('?limit=2&offset=3')).toEqual(['entry 9999', 'entry 9998'])
    expect(await texts('?limit=1&offset=20000')).toEqual([])
    const { logs: all, total, nextCursor } = await read('?limit=10000&order=asc')
    expect(all.map(({ log }) => log)).toEqual(entries(10_000).map(({ text }) => text))
    expect(total).toEqual({ value: 10_000, relation: 'gte' })
    expect(await texts(`?order=asc&cursor=${nextCursor}`)).toEqual(['entry 10001', 'entry 10002'])
  })

  it('is filtered by everything that an entry has', async () => {
    const ids = { deploymentId: randomUUID(), instanceId: randomUUID(), sessionId: randomUUID() }
    await logs.append(agent, [
      logEntry({ time: T0, text: 'built', source: 'build' }),
      logEntry({ time: T0 + 500, text: 'Failed & 100% lost', level: 'error', ...ids }),
      logEntry({ time: T0 + 1001, text: 'quiet', level: 'debug', ...ids, sessionId: SESSION }),
      logEntry({ time: T0 + 2000, text: 'unsaid', level: null, ...ids, sessionId: null }),
    ])
    const seconds = T0 / 1000
    for (const [query, wanted] of [
      [`deploymentId=${ids.deploymentId}`, ['Failed & 100% lost', 'quiet', 'unsaid']],
      [`instanceId=${ids.instanceId.toUpperCase()}`, ['Failed & 100% lost', 'quiet', 'unsaid']],
      [`sessionId=${SESSION}`, ['quiet']],
      [`sessionId=${randomUUID()}`, []],
      ['source=build', ['built']],
      ['level=debug', ['built', 'Failed & 100% lost', 'quiet', 'unsaid']],
      ['level=info', ['built', 'Failed & 100% lost', 'unsaid']],
      ['level=warn', ['Failed & 100% lost']],
      [`query=${encodeURIComponent('FAILED & 100%')}`, ['Failed & 100% lost']],
      ['query=%25', ['Failed & 100% lost']],
      [`startTime=${seconds + 1}`, ['quiet', 'unsaid']],
      [`startTime=${seconds + 1}.001&endTime=${seconds + 1}.001`, ['quiet']],
      [`startTime=${seconds}.5&endTime=${seconds + 1}`, ['Failed & 100% lost']],
      [`level=info&instanceId=${ids.instanceId}&query=a`, ['Failed & 100% lost', 'unsaid']],
    ] as const) {
      expect([query, await texts(`?order=asc&${query}`)]).toEqual([query, wanted])
    }
  })

  it.each([
    'limit=0',
    'limit=10001',
    'limit=1.5',
    'limit=1e3',
    'limit=',
    'offset=-1',
    'offset=x',
    'order=up',
    'level=fatal',
    'source=other',
    'sessionId=1',
    'deploymentId=',
    'instanceId=x',
    'query=',
    `query=${'x'.repeat(501)}`,
    'startTime=now',
    'startTime=-1',
    'endTime=1e9',
    'endTime=',
    'startTime=.5',
    'other=1',
    'limit=5&limit=5',
    'query=a&query=b',
    '__proto__=1',
  ])('refuses %s', async (query) => {
    expect(await refused(`?${query}`)).toContain(query.split('=')[0]?.slice(0, 20))
  })

  it('refuses cursors that are malformed, changed, of another agent or order, or beside an offset', async () => {
    await logs.append(agent, entries(3))
    const { nextCursor = '' } = await read('?limit=1')
    for (let at = 0; at < nextCursor.length; at += 1) {
      const other = nextCursor[at] === 'A' ? 'B' : 'A'
      await refused(`?cursor=${nextCursor.slice(0, at)}${other}${nextCursor.slice(at + 1)}`)
    }
    for (const cursor of ['', 'x', `${nextCursor}A`, '%00', 'é', 'x'.repeat(201)])
      await refused(`?cursor=${cursor}`)
    expect(await refused(`?order=asc&cursor=${nextCursor}`)).toMatch(/order/)
    expect(await refused(`?offset=0&cursor=${nextCursor}`)).toMatch(/both/)
    agent = randomUUID()
    expect(await refused(`?cursor=${nextCursor}`)).toMatch(/of another agent/)
  })

  it('is read and nothing else', async () => {
    const response = await fetch(server.logsUrl(agent), { method: 'POST' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
    for (const accept of ['application/json', 'text/plain', 'text/event-stream']) {
      const head = await fetch(server.logsUrl(agent), { method: 'HEAD', headers: { accept } })
      expect([head.status, await head.text()]).toEqual([200, ''])
      expect(head.headers.get('content-type')).toContain(accept)
    }
    await until(() => server.active === 0, 'the end of all answers')
  })

  it('comes whole when it is large, and survives clients that go away in the middle', async () => {
    await logs.append(agent, entries(700, 1, { text: `ö${'x'.repeat(60_000)}` }))
    expect((await read('?limit=10000')).logs.map(({ id }) => id)).toHaveLength(700)
    for (const accept of ['application/json', 'text/plain']) {
      const left = new AbortController()
      const response = await fetch(server.logsUrl(agent, '?limit=10000'), {
        headers: { accept },
        signal: left.signal,
      })
      await response.body?.getReader().read()
      left.abort()
    }
    await until(() => server.active === 0, 'the end of all answers')
    expect(await texts('?limit=1&query=nothing')).toEqual([])
  })
})

describe('a log as text', () => {
  it('is a line an entry, the oldest first', async () => {
    await logs.append(agent, [
      logEntry({ time: T0, text: 'one', level: null, source: 'build' }),
      logEntry({ time: T0 + 1, text: 'two\nlines', level: 'error', sessionId: SESSION }),
    ])
    const expected = [
      '2023-11-14T22:13:20.000Z -     -        one',
      `2023-11-14T22:13:20.001Z error ${SESSION.slice(0, 8)} two`,
      '    lines',
      '',
    ]
    expect(await plain()).toBe(expected.join('\n'))
    expect(await plain('?order=asc&limit=1')).toBe(`${expected[0]}\n`)
    expect(await plain('?limit=1')).toBe(expected.slice(1).join('\n'))
    expect(await plain('?query=nothing')).toBe('')
    expect(await plain('?query=nothing&limit=5000')).toBe('')
  })

  it('has the same entries when they are many', async () => {
    await logs.append(agent, entries(2500))
    const numbers = (text: string) =>
      text
        .trim()
        .split('\n')
        .map((line) => Number(line.split(' ').at(-1)))
    const counted = (count: number, from: number) => Array.from({ length: count }, (_, index) => from + index)
    expect(numbers(await plain('?limit=1700'))).toEqual(counted(1700, 801))
    expect(numbers(await plain('?limit=1700&offset=100'))).toEqual(counted(1700, 701))
    expect(numbers(await plain('?limit=1700&order=asc'))).toEqual(counted(1700, 1))
  })
})
