import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AgentLogEntry, agentLogEntry, agentLogsResponse } from '@botcli/protocol/cloud'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AgentLogServer } from '../testing/agent-log-server.ts'
import { until } from '../testing/cloud-fixture.ts'
import { EventSource } from '../testing/event-source.ts'
import { logEntry } from '../testing/log-entries.ts'
import { ManualTimers } from '../testing/manual-timers.ts'
import type { NewLogEntry } from './agent-log-store.ts'
import { eventIdOf } from './event-id.ts'
import { SqliteAgentLogStore } from './sqlite-agent-log-store.ts'

const SESSION = randomUUID()
const T0 = 1_700_000_000_000
let folder: string
let logs: SqliteAgentLogStore
let timers: ManualTimers
let server: AgentLogServer
let agent: string
/** How the sessions that are over ended. */
let ends: Map<string, object>
/** Called while the route asks whether one is over. */
let whileAsked: () => void
/** Agents whose logs are gone. */
let gone: Set<string>

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-log-stream-'))
  logs = new SqliteAgentLogStore(join(folder, 'logs.db'), {
    maxBytes: 50_000_000,
    maxAgeMs: 1000,
    now: () => T0,
  })
  timers = new ManualTimers()
  ends = new Map()
  whileAsked = () => {}
  gone = new Set()
  const isKept = (agentId: string) => !gone.has(agentId)
  const ended = async (_agentId: string, sessionId: string) => {
    const end = ends.get(sessionId)
    whileAsked()
    return end
  }
  server = await AgentLogServer.start(logs, { after: timers.after, maxFollowers: 20, ended, isKept })
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

async function refused(query: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(server.logsUrl(agent, query), { headers })
  expect([query, response.status]).toEqual([query, 400])
  const body = (await response.json()) as { error: string; code: string }
  expect(body.code).toBe('INVALID_REQUEST')
  return body.error
}

/** The entries that came with a stream. */
function came(source: EventSource): readonly AgentLogEntry[] {
  return source.events.flatMap(({ id, data }) => {
    if (id === undefined || data === undefined) return []
    const entry = agentLogEntry.parse(JSON.parse(data))
    expect(id).toBe(eventIdOf(agent, entry.id))
    return [entry]
  })
}

describe('a log that is followed', () => {
  it('begins with its newest entries, the oldest first, and goes on with what comes', async () => {
    await logs.append(agent, entries(5))
    const source = await EventSource.open(server.logsUrl(agent, '?limit=2'))
    expect(source.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
    })
    await source.until(() => came(source).length === 2)
    await logs.append(agent, entries(2, 6))
    await source.until(() => came(source).length === 4)
    expect(came(source).map(({ id, log }) => [id, log])).toEqual(
      [4, 5, 6, 7].map((id) => [id, `entry ${id}`]),
    )
    source.cut()
    await until(() => server.active === 0, 'the end of the stream')
    expect(timers.waiting).toEqual([])
  })

  it('shows only what is wanted, and waits for it', async () => {
    await logs.append(agent, entries(50))
    const source = await EventSource.open(server.logsUrl(agent, `?level=error&sessionId=${SESSION}`))
    await logs.append(agent, [
      ...entries(3),
      ...entries(1, 9, { level: 'error', sessionId: SESSION }),
      ...entries(1),
    ])
    await source.until(() => came(source).length === 1)
    expect(came(source)[0]).toMatchObject({ id: 54, log: 'entry 9' })
  })

  it('goes on after the last entry that a client had', async () => {
    await logs.append(agent, entries(1000))
    const source = await EventSource.open(server.logsUrl(agent), { 'last-event-id': '3' })
    await source.until(() => came(source).length === 997)
    expect(came(source)[0]?.id).toBe(4)
    expect(source.events.some(({ event }) => event === 'reset')).toBe(false)
    const marked = await EventSource.open(server.logsUrl(agent), { 'last-event-id': eventIdOf(agent, 999) })
    await logs.append(agent, entries(1, 1001))
    await marked.until(() => came(marked).length === 2)
    expect(came(marked).map(({ id }) => id)).toEqual([1000, 1001])
    expect(marked.events.some(({ event }) => event === 'reset')).toBe(false)
  })

  it.each([
    ['of another log', () => eventIdOf(randomUUID(), 2)],
    ['with a number that nothing here has had', () => '5000'],
  ])('begins anew, and says so, for a client that comes with an event %s', async (_, last) => {
    await logs.append(agent, entries(3))
    const source = await EventSource.open(server.logsUrl(agent, '?limit=1'), { 'last-event-id': last() })
    await source.until(() => came(source).length === 3)
    expect(source.events[1]).toEqual({ event: 'reset', data: '{"missed":true,"replaced":true}' })
    await logs.append(agent, entries(1, 4))
    await source.until(() => came(source).length === 4)
    expect(came(source).map(({ id }) => id)).toEqual([1, 2, 3, 4])
  })

  it('says where it is before there is anything to be sent', async () => {
    await logs.append(agent, entries(3))
    const source = await EventSource.open(server.logsUrl(agent), { 'last-event-id': '3' })
    await source.until(() => source.events.length > 0)
    expect(source.events).toEqual([{ id: eventIdOf(agent, 3), retry: '1000' }])
    const other = await EventSource.open(server.logsUrl(agent), {
      'last-event-id': eventIdOf(randomUUID(), 3),
    })
    await other.until(() => other.events.length > 0)
    expect(other.events[0]).toEqual({ id: eventIdOf(agent, 0), retry: '1000' })
  })

  it('waits for the first entry of a log for a client that had entries of another one', async () => {
    const source = await EventSource.open(server.logsUrl(agent), { 'last-event-id': '30' })
    await logs.append(agent, entries(1))
    await source.until(() => came(source).length === 1)
    expect(came(source)[0]?.id).toBe(1)
  })

  it('says so when a client had entries that are not there any more', async () => {
    await logs.append(agent, entries(3))
    const source = await EventSource.open(server.logsUrl(agent), { 'last-event-id': eventIdOf(agent, 5) })
    await logs.append(agent, entries(1, 4))
    await source.until(() => came(source).length === 1)
    expect(source.events[1]).toEqual({ event: 'reset', data: '{"missed":true}' })
    expect(came(source)[0]?.id).toBe(4)
  })

  it('says so when entries that a client would have had are gone', async () => {
    await logs.append(agent, entries(5))
    await logs.append(agent, entries(5, 6, { time: T0 + 60_000 }))
    await logs.prune(T0 + 60_000)
    const reset = { event: 'reset', data: '{"missed":true}' }
    const source = await EventSource.open(server.logsUrl(agent), { 'last-event-id': '4' })
    await source.until(() => came(source).length === 5)
    expect(source.events[1]).toEqual(reset)
    const whole = await EventSource.open(server.logsUrl(agent), { 'last-event-id': '5' })
    await whole.until(() => came(whole).length === 5)
    expect(whole.events.some(({ event }) => event === 'reset')).toBe(false)
    await logs.prune(T0 + 1_000_000)
    const empty = await EventSource.open(server.logsUrl(agent), { 'last-event-id': '9' })
    await empty.until(() => empty.events.length === 2)
    expect(empty.events[1]).toEqual(reset)
  })

  it.each(['x', '-1', '1.5', '1 2', '9999999999999999', '1-', '1-xyz', '1-0123456'])(
    'refuses Last-Event-ID %j',
    async (last) => {
      await refused('', { accept: 'text/event-stream', 'last-event-id': last })
    },
  )

  it('refuses what is for pages', async () => {
    await logs.append(agent, entries(3))
    const headers = { accept: 'text/event-stream' }
    const page = await fetch(server.logsUrl(agent, '?limit=1'))
    const { nextCursor } = agentLogsResponse.parse(await page.json())
    expect(await refused(`?cursor=${nextCursor}`, headers)).toMatch(/Last-Event-ID/)
    expect(await refused('?offset=1', headers)).toMatch(/Last-Event-ID/)
    await refused('?limit=0', headers)
  })

  it('comments every 15 seconds', async () => {
    const source = await EventSource.open(server.logsUrl(agent))
    for (let count = 1; count <= 3; count += 1) {
      await until(() => timers.waiting.includes(15_000), 'the timer of the comments')
      timers.pass(15_000)
      await source.until(() => source.events.filter(({ comment }) => comment !== undefined).length === count)
    }
  })

  it('ends when the log is removed, or the server stops', async () => {
    const removed = await EventSource.open(server.logsUrl(agent))
    await logs.append(agent, entries(1))
    await removed.until(() => came(removed).length === 1)
    await logs.remove(agent)
    await removed.ended()
    expect(removed.end).toEqual({ reason: 'agent_removed' })
    const stopped = await EventSource.open(server.logsUrl(agent))
    await stopped.until(() => stopped.events.length > 0)
    server.route.close()
    await stopped.ended()
    expect(stopped.end).toBeUndefined()
    expect((await fetch(server.logsUrl(agent), { headers: { accept: 'text/event-stream' } })).status).toBe(
      503,
    )
  })

  it('ends at once where the log was removed before it could be followed', async () => {
    gone.add(agent)
    const source = await EventSource.open(server.logsUrl(agent))
    await source.ended()
    expect(source.end).toEqual({ reason: 'agent_removed' })
  })

  it('ends in the same way for a client that comes while it is removed', async () => {
    await logs.append(agent, entries(2))
    const first = await EventSource.open(server.logsUrl(agent, '?limit=2'))
    await first.until(() => came(first).length === 2)
    gone.add(agent)
    const removing = logs.remove(agent)
    const second = await EventSource.open(server.logsUrl(agent, '?limit=2'))
    await Promise.all([first.ended(), second.ended(), removing])
    for (const { end } of [first, second]) expect(end).toEqual({ reason: 'agent_removed' })
  })

  it('is followed by a bounded number of clients', async () => {
    const sources = await Promise.all(
      Array.from({ length: 20 }, () => EventSource.open(server.logsUrl(agent))),
    )
    const headers = { accept: 'text/event-stream' }
    const one = await fetch(server.logsUrl(agent), { headers })
    expect([one.status, one.headers.get('retry-after'), await one.json()]).toEqual([
      429,
      '5',
      { code: 'RATE_LIMITED', error: expect.stringContaining('20 streams') },
    ])
    for (const source of sources) source.cut()
    await until(() => server.active === 0, 'the end of all streams')
    expect((await EventSource.open(server.logsUrl(agent))).response.statusCode).toBe(200)
  })

  it('does not grow for a client that is slow', async () => {
    const source = await EventSource.open(server.logsUrl(agent))
    await source.until(() => source.events.length > 0)
    source.response.pause()
    for (let at = 1; at <= 20_000; at += 500) {
      await logs.append(agent, entries(500, at, { text: `${at} ${'z'.repeat(1000)}` }))
    }
    await until(() => timers.waiting.includes(60_000), 'a client that takes nothing')
    source.response.resume()
    await source.until(() => source.events.length > 20_000)
    expect(came(source).map(({ id }) => id)).toEqual(Array.from({ length: 20_000 }, (_, index) => index + 1))
  })
})

describe('the log of a session that is followed', () => {
  const query = `?sessionId=${SESSION}&limit=100`

  it('ends with the session, once everything was sent', async () => {
    await logs.append(agent, entries(3, 1, { sessionId: SESSION }))
    const source = await EventSource.open(server.logsUrl(agent, query))
    await source.until(() => came(source).length === 3)
    server.route.wake(agent)
    server.route.wake(randomUUID())
    ends.set(randomUUID(), {})
    // Its last words and its end come at the same moment.
    await logs.append(agent, [...entries(600, 4, { sessionId: SESSION }), ...entries(5)])
    ends.set(SESSION, { cause: 'client_left' })
    server.route.wake(agent)
    await source.ended()
    expect(source.end).toEqual({ cause: 'client_left' })
    expect(came(source).map(({ log }) => log)).toEqual(entries(603).map(({ text }) => text))
    await until(() => server.active === 0, 'the end of the stream')
    expect(timers.waiting).toEqual([])
  })

  it('ends at once when the session was over, also for one who comes back', async () => {
    await logs.append(agent, entries(1500, 1, { sessionId: SESSION }))
    ends.set(SESSION, { cause: 'stopped' })
    const source = await EventSource.open(server.logsUrl(agent, query))
    await source.ended()
    expect(came(source).map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, index) => 1401 + index))
    const again = await EventSource.open(server.logsUrl(agent, query), { 'last-event-id': '200' })
    await again.ended()
    expect(came(again)).toHaveLength(1300)
    expect([source.end, again.end]).toEqual([{ cause: 'stopped' }, { cause: 'stopped' }])
  })

  it('sees an end that comes while it asks for it', async () => {
    whileAsked = () => {
      if (ends.has(SESSION)) return
      ends.set(SESSION, { over: true })
      server.route.wake(agent)
    }
    const source = await EventSource.open(server.logsUrl(agent, query))
    await source.ended()
    expect(source.end).toEqual({ over: true })
  })

  it('is woken however many wakes there are', async () => {
    const source = await EventSource.open(server.logsUrl(agent, query))
    await source.until(() => source.events.length > 0)
    for (let round = 0; round < 50; round += 1) {
      server.route.wake(agent)
      if (round % 7 === 0) await logs.append(agent, entries(1, round, { sessionId: SESSION }))
    }
    ends.set(SESSION, { over: true })
    server.route.wake(agent)
    await source.ended()
    expect(came(source)).toHaveLength(8)
    expect(source.end).toEqual({ over: true })
  })
})
