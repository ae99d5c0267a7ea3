import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SqliteDatabase } from '../store/sqlite/database.ts'
import { logEntry } from '../testing/log-entries.ts'
import type { AgentLogFilter, NewLogEntry } from './agent-log-store.ts'
import { SqliteAgentLogStore } from './sqlite-agent-log-store.ts'

const AGENT = 'agent'
const OPTIONS = { maxBytes: 1_000_000_000, maxAgeMs: Number.MAX_SAFE_INTEGER }
let folder: string
let store: SqliteAgentLogStore

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-logs-'))
  store = new SqliteAgentLogStore(join(folder, 'logs.db'), OPTIONS)
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

function many(count: number, make: (index: number) => Partial<NewLogEntry> = () => ({})): NewLogEntry[] {
  return Array.from({ length: count }, (_, index) => logEntry({ text: `entry ${index + 1}`, ...make(index) }))
}

async function idsOf(
  filter: AgentLogFilter,
  order: 'asc' | 'desc' = 'asc',
  limit = 20_000,
): Promise<number[]> {
  const { entries } = await store.page(AGENT, filter, { limit, order })
  return entries.map(({ id }) => id)
}

describe('a log of many entries', () => {
  it('is counted up to 10000', async () => {
    await store.append(AGENT, many(10_000))
    const window = { limit: 1, order: 'desc' } as const
    expect((await store.page(AGENT, {}, window)).total).toEqual({ value: 10_000, relation: 'eq' })
    expect((await store.page(AGENT, { query: 'entry' }, window)).total).toEqual({
      value: 10_000,
      relation: 'eq',
    })
    await store.append(AGENT, many(1))
    for (const after of [undefined, 1, 5000, 10_001]) {
      for (const filter of [{}, { query: 'entry' }]) {
        const { total } = await store.page(AGENT, filter, { ...window, after })
        expect(total).toEqual({ value: 10_000, relation: 'gte' })
      }
    }
  })

  it('finds the few that are wanted among all, in both orders and over the ends of steps', async () => {
    const isRare = (index: number) => index % 1999 === 7
    await store.append(
      AGENT,
      many(9000, (index) => ({
        time: 1_000_000 + index,
        sessionId: index % 3 === 0 ? 'often' : 'other',
        ...(isRare(index) && { text: 'a Needle in Grün', level: 'error' as const, source: 'start' as const }),
      })),
    )
    const rare = [...Array(9000).keys()].filter(isRare).map((index) => index + 1)
    const filters: AgentLogFilter[] = [
      { query: 'needle' },
      { query: 'GRÜN' },
      { level: 'error' },
      { source: 'start' },
    ]
    for (const filter of filters) {
      expect(await idsOf(filter)).toEqual(rare)
      expect(await idsOf(filter, 'desc')).toEqual(rare.toReversed())
      const page = await store.page(AGENT, filter, { limit: 2, order: 'desc', offset: 1 })
      expect(page.entries.map(({ id }) => id)).toEqual(rare.toReversed().slice(1, 3))
      expect([page.total.value, page.hasMore]).toEqual([rare.length, true])
      const often = rare.filter((id) => (id - 1) % 3 === 0)
      expect(await idsOf({ ...filter, sessionId: 'often' })).toEqual(often)
    }
    expect(await idsOf({ startTime: 1_004_000, endTime: 1_004_002 })).toEqual([4001, 4002, 4003])
    expect(await idsOf({}, 'desc', 3)).toEqual([9000, 8999, 8998])
    const far = await store.page(AGENT, { query: 'entry' }, { limit: 2, order: 'asc', offset: 8000 })
    expect(far.entries.map(({ text }) => text)).toEqual(['entry 8006', 'entry 8007'])
  })

  it('is found by its time also where entries came late', async () => {
    await store.append(
      AGENT,
      many(600, (index) => ({ time: 10_000 + index })),
    )
    await store.append(AGENT, [logEntry({ time: 10_003 })])
    await store.append(
      AGENT,
      many(600, (index) => ({ time: 20_000 + index })),
    )
    expect(await idsOf({ startTime: 10_002, endTime: 10_003 })).toEqual([3, 4, 601])
    expect(await idsOf({ endTime: 10_000 })).toEqual([1])
    expect(await idsOf({ startTime: 30_000 })).toEqual([])
  })

  it('does not hold up the event loop while it is searched', async () => {
    for (let round = 0; round < 10; round += 1) await store.append(AGENT, many(5000))
    let turns = 0
    let isSearched = true
    const count = () => {
      turns += 1
      if (isSearched) setImmediate(count)
    }
    setImmediate(count)
    await Promise.all([1, 2, 3, 4].map(() => idsOf({ query: 'nothing like this' })))
    isSearched = false
    expect(turns).toBeGreaterThan(1)
  })
})

describe('entries', () => {
  it('are cut when they are longer than 64 KiB, at the end of a character', async () => {
    const long = `a${'ö'.repeat(40_000)}`
    await store.append(AGENT, [logEntry({ text: long }), logEntry({ text: 'x'.repeat(64 * 1024) })])
    const { entries } = await store.page(AGENT, {}, { limit: 2, order: 'asc' })
    const mark = ' [the rest of 80001 bytes was cut off]'
    expect(entries[0]?.text).toMatch(/^aö+ \[the rest of 80001 bytes was cut off\]$/)
    const bytes = Buffer.byteLength(entries[0]?.text ?? '')
    expect([64 * 1024, 64 * 1024 - 1]).toContain(bytes)
    expect(entries[0]?.text.endsWith(mark)).toBe(true)
    expect(entries[1]?.text).toBe('x'.repeat(64 * 1024))
  })

  it('come back as they were, whatever their text', async () => {
    const texts = ['', ' ', '\n', 'a\nb\tc', '"quotes" \\', '💥 日本', 'a\0b', '%_']
    await store.append(
      AGENT,
      texts.map((text) => logEntry({ text, level: null })),
    )
    const { entries } = await store.page(AGENT, {}, { limit: 20, order: 'asc' })
    expect(entries.map(({ text }) => text)).toEqual(texts.map((text) => text.replace('\0', '\ufffd')))
    expect(await idsOf({ query: 'B' })).toEqual([4, 7])
  })

  it('of many writers at once all get their numbers, each writer’s in order', async () => {
    const writers = Array.from({ length: 20 }, (_, writer) => writer)
    const write = async (writer: number) => {
      for (let at = 0; at < 30; at += 1) {
        await store.append(AGENT, [
          logEntry({ text: `${at}a`, sessionId: `${writer}` }),
          logEntry({ text: `${at}b`, sessionId: `${writer}` }),
        ])
      }
    }
    await Promise.all(writers.map(write))
    expect(await idsOf({})).toEqual(Array.from({ length: 1200 }, (_, index) => index + 1))
    for (const writer of writers) {
      const { entries } = await store.page(AGENT, { sessionId: `${writer}` }, { limit: 100, order: 'asc' })
      expect(entries.map(({ text }) => text)).toEqual(
        [...Array(30).keys()].flatMap((at) => [`${at}a`, `${at}b`]),
      )
      // What was appended together stands together.
      for (let at = 0; at < entries.length; at += 2)
        expect(entries[at + 1]?.id).toBe((entries[at]?.id ?? 0) + 1)
    }
  })

  it('that cannot be stored do not take those of others with them', async () => {
    const bad = store.append(AGENT, [logEntry(), logEntry({ time: Number.NaN })])
    const good = store.append('other', [logEntry()])
    await expect(bad).rejects.toThrow()
    await good
    expect([await store.newest(AGENT), await store.newest('other')]).toEqual([0, 1])
  })

  it('are in a file that only its owner can read', async () => {
    await store.append(AGENT, [logEntry()])
    for (const name of ['logs.db', 'logs.db-wal']) {
      expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600)
    }
  })
})

describe('a log that is removed', () => {
  it('leaves others alone, ends its followers, and is gone without a trace', async () => {
    await store.append(AGENT, many(1200), { instanceId: 'i', position: { file: 1, offset: 2, output: 3 } })
    await store.append('other', many(3))
    const batches = store.follow(AGENT, {}, 1200)[Symbol.asyncIterator]()
    const waiting = batches.next()
    await store.remove(AGENT)
    expect((await waiting).done).toBe(true)
    expect(await store.position('i')).toBeUndefined()
    expect((await store.page(AGENT, {}, { limit: 10, order: 'asc' })).total.value).toBe(0)
    expect((await store.page('other', {}, { limit: 10, order: 'asc' })).total.value).toBe(3)
    await store.remove('other')
    const database = new SqliteDatabase(join(folder, 'logs.db'))
    for (const table of ['logs', 'entries', 'spans', 'positions']) {
      expect(database.all(`SELECT * FROM ${table}`)).toEqual([])
    }
    database.close()
  })

  it('is read to its end by its followers first', async () => {
    await store.append(AGENT, many(1200))
    const seen: number[] = []
    const reading = (async () => {
      for await (const batch of store.follow(AGENT, {}, 0)) seen.push(...batch.map(({ id }) => id))
    })()
    const written = store.append(AGENT, many(1))
    await store.remove(AGENT)
    await Promise.all([reading, written])
    expect(seen).toEqual(Array.from({ length: 1201 }, (_, index) => index + 1))
    expect(await idsOf({})).toEqual([])
  })

  it('does not wait for a follower that does not read', async () => {
    await store.close()
    store = new SqliteAgentLogStore(join(folder, 'logs.db'), { ...OPTIONS, farewellMs: 20 })
    await store.append(AGENT, many(3))
    const batches = store.follow(AGENT, {}, 0)[Symbol.asyncIterator]()
    await store.remove(AGENT)
    expect(await idsOf({})).toEqual([])
    expect((await batches.next()).done).toBe(true)
  })

  it('is left to the next process by one that ends while its followers read', async () => {
    await store.append(AGENT, many(3))
    const batches = store.follow(AGENT, {}, 0)[Symbol.asyncIterator]()
    const removing = store.remove(AGENT)
    await store.close()
    await removing
    expect((await batches.next()).done).toBe(true)
    store = new SqliteAgentLogStore(join(folder, 'logs.db'), OPTIONS)
    await store.removeOthers(new Set())
    expect(await idsOf({})).toEqual([])
  })

  it('is gone when it was being removed as the process ended', async () => {
    await store.append(AGENT, many(2000))
    const removing = store.remove(AGENT)
    await store.close()
    await removing
    store = new SqliteAgentLogStore(join(folder, 'logs.db'), OPTIONS)
    expect(await idsOf({})).toEqual([])
    await store.prune(Date.now())
    expect(await idsOf({})).toEqual([])
  })
})

describe('a store that is closed', () => {
  it('has written what it was given, ends followers and takes no more', async () => {
    const written = store.append(AGENT, many(3))
    const batches = store.follow(AGENT, {}, 3)[Symbol.asyncIterator]()
    const waiting = batches.next()
    await store.close()
    await written
    expect((await waiting).done).toBe(true)
    await expect(store.append(AGENT, many(1))).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect((await store.follow(AGENT, {}, 0)[Symbol.asyncIterator]().next()).done).toBe(true)
    store = new SqliteAgentLogStore(join(folder, 'logs.db'), OPTIONS)
    expect(await idsOf({})).toEqual([1, 2, 3])
  })
})

describe('a follower', () => {
  it('gets batches that are not too large, however long the entries are', async () => {
    await store.append(
      AGENT,
      many(200, () => ({ text: 'x'.repeat(60_000) })),
    )
    const seen: number[] = []
    for await (const batch of store.follow(AGENT, {}, 0)) {
      expect(batch.length).toBeLessThanOrEqual(20)
      seen.push(...batch.map(({ id }) => id))
      if (seen.length === 200) break
    }
    expect(seen).toEqual(Array.from({ length: 200 }, (_, index) => index + 1))
  })

  it('passes what it does not want, over any number of steps', async () => {
    await store.append(AGENT, many(7000))
    const batches = store.follow(AGENT, { query: 'rare' }, 0)[Symbol.asyncIterator]()
    const first = batches.next()
    await store.append(AGENT, [logEntry({ text: 'Rare' })])
    expect((await first).value?.map(({ id }: { id: number }) => id)).toEqual([7001])
    await batches.return?.()
  })
})
