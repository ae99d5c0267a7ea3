import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type {
  AgentLogFilter,
  AgentLogFollower,
  AgentLogWindow,
  NewLogEntry,
  StoredLogEntry,
} from './agent-log-store.ts'
import { SqliteAgentLogStore } from './sqlite-agent-log-store.ts'

const AGENTS = ['one', 'two']
const START = 1_700_000_000_000
const MAX_AGE_MS = 60_000
const RANKS = { debug: 0, info: 1, warn: 2, error: 3 }
const WORDS = ['Call', 'ended', '100%', 'a_b', 'back\\slash', 'GRÜSSE', 'tür', '日本', "it's", '\n', ' ']

const optional = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: undefined })
const id = (name: string) => fc.constantFrom(`${name}-1`, `${name}-2`, `${name}-3`)
const source = fc.constantFrom('build' as const, 'start' as const, 'run' as const)
const level = fc.constantFrom('debug' as const, 'info' as const, 'warn' as const, 'error' as const)
/** Entries are about as old as the clock says, some earlier and some later. */
const entry = fc.record({
  time: fc.integer({ min: -3000, max: 1000 }),
  source,
  level: fc.option(level),
  text: fc
    .array(fc.constantFrom(...WORDS), { maxLength: 5 })
    .map((words) => words.join('').repeat(words.length === 2 ? 9 : 1)),
  deploymentId: fc.option(id('deployment')),
  instanceId: fc.option(id('instance')),
  sessionId: fc.option(id('session')),
})
const time = fc.integer({ min: -20_000, max: 5000 })
const filter = fc.record({
  deploymentId: optional(id('deployment')),
  instanceId: optional(id('instance')),
  sessionId: optional(id('session')),
  source: optional(source),
  level: optional(level),
  query: optional(
    fc.constantFrom(
      'call',
      'ENDED',
      '%',
      '_',
      '\\',
      'grüsse',
      'TÜR',
      'ü',
      '本',
      'de',
      'lb',
      'callendedcallendedcallendedcallended',
      '100%100%100%100%100%100%100%100%100%',
      "'",
    ),
  ),
  startTime: optional(time),
  endTime: optional(time),
})
/** Most filters are simple ones, or next to nothing would be found. */
const wanted = fc
  .tuple(
    filter,
    fc.subarray(
      [
        'deploymentId',
        'instanceId',
        'sessionId',
        'source',
        'level',
        'query',
        'startTime',
        'endTime',
      ] as const,
      { maxLength: 3 },
    ),
  )
  .map(([all, names]): AgentLogFilter => Object.fromEntries(names.map((name) => [name, all[name]])))
const order = fc.constantFrom('asc' as const, 'desc' as const)
const agent = fc.constantFrom(...AGENTS)

const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('append' as const),
      agent,
      entries: fc.array(entry, { maxLength: 30, size: 'max' }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('page' as const),
      agent,
      filter: wanted,
      order,
      limit: fc.integer({ min: 1, max: 20 }),
      offset: fc.nat(30),
      back: optional(fc.nat(400)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('walk' as const),
      agent,
      filter: wanted,
      order,
      limit: fc.integer({ min: 1, max: 7 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('follow' as const), agent, filter: wanted, back: fc.nat(30) }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('catchUp' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cut' as const) }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constant('wait' as const), ms: fc.nat(MAX_AGE_MS / 3) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('prune' as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('remove' as const), agent }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('restart' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

interface Model {
  entries: StoredLogEntry[]
  last: number
  /** Every entry that ever was. */
  readonly all: StoredLogEntry[]
}

interface Reader {
  readonly agent: string
  readonly filter: AgentLogFilter
  after: number
  readonly got: StoredLogEntry[]
  follower: AgentLogFollower | undefined
  ended: Promise<void>
}

/** A store and an array for each of its logs, to which the same is done. */
class Trial {
  readonly #path: string
  readonly #maxBytes: number
  #store: SqliteAgentLogStore
  #now = START
  readonly #models = new Map(
    AGENTS.map((agent): [string, Model] => [agent, { entries: [], last: 0, all: [] }]),
  )
  #readers: Reader[] = []
  #appends = 0

  constructor(folder: string, maxBytes: number) {
    this.#path = join(folder, 'logs.db')
    this.#maxBytes = maxBytes
    this.#store = this.#open()
  }

  async run(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#do(step)
    await this.#catchUp()
  }

  async close(): Promise<void> {
    await this.#store.close()
    await Promise.all(this.#readers.map(({ ended }) => ended))
  }

  async #do(step: Step): Promise<void> {
    if (step.act === 'append') await this.#append(step.agent, step.entries)
    else if (step.act === 'page') await this.#page(step)
    else if (step.act === 'walk') await this.#walk(step)
    else if (step.act === 'follow') this.#follow(step.agent, step.filter, step.back)
    else if (step.act === 'catchUp') await this.#catchUp()
    else if (step.act === 'cut') this.#cut()
    else if (step.act === 'wait') this.#now += step.ms
    else if (step.act === 'prune') await this.#prune()
    else if (step.act === 'remove') await this.#remove(step.agent)
    else await this.#restart()
  }

  async #append(agent: string, given: readonly NewLogEntry[]): Promise<void> {
    const entries = given.map((one) => ({ ...one, time: this.#now + one.time }))
    const model = this.#model(agent)
    this.#appends += 1
    const position = { file: this.#appends, offset: 7 * this.#appends, output: 3 * this.#appends }
    await this.#store.append(agent, entries, { instanceId: agent, position })
    for (const one of entries) {
      model.last += 1
      model.entries.push({ id: model.last, ...one })
    }
    model.all.push(...model.entries.slice(model.entries.length - entries.length))
    this.#trim(model, 2 * entries.length + 1)
    expect(await this.#store.newest(agent)).toBe(model.last)
    expect(await this.#store.position(agent)).toEqual(position)
  }

  async #page(step: Extract<Step, { act: 'page' }>): Promise<void> {
    const { agent, order, limit, offset, back } = step
    const model = this.#model(agent)
    const filter = this.#filter(step.filter)
    const after = back === undefined ? undefined : Math.max(0, model.last - back)
    const found = expected(model, filter, order)
    const later =
      after === undefined ? found : found.filter((one) => (order === 'asc' ? one.id > after : one.id < after))
    const window: AgentLogWindow = { order, limit, offset, after }
    expect(await this.#store.page(agent, filter, window)).toEqual({
      entries: later.slice(offset, offset + limit),
      total: { value: found.length, relation: 'eq' },
      hasMore: later.length > offset + limit,
    })
  }

  async #walk(step: Extract<Step, { act: 'walk' }>): Promise<void> {
    const filter = this.#filter(step.filter)
    const seen: StoredLogEntry[] = []
    for (let more = true; more; ) {
      const after = seen.at(-1)?.id
      const { order, limit } = step
      const page = await this.#store.page(step.agent, filter, { order, limit, after, counted: false })
      seen.push(...page.entries)
      more = page.hasMore
    }
    expect(seen).toEqual(expected(this.#model(step.agent), filter, step.order))
  }

  #follow(agent: string, given: AgentLogFilter, back: number): void {
    if (this.#readers.length >= 6) return
    const after = Math.max(0, this.#model(agent).last - back)
    const reader: Reader = {
      agent,
      filter: this.#filter(given),
      after,
      got: [],
      follower: undefined,
      ended: Promise.resolve(),
    }
    this.#readers.push(reader)
    this.#resume(reader)
  }

  #resume(reader: Reader): void {
    const from = reader.got.at(-1)?.id ?? reader.after
    const follower = this.#store.follow(reader.agent, reader.filter, from)
    const read = async () => {
      for await (const batch of follower) {
        expect(batch.length).toBeGreaterThan(0)
        reader.got.push(...batch)
      }
      if (reader.follower === follower) reader.follower = undefined
    }
    reader.follower = follower
    reader.ended = read()
  }

  #cut(): void {
    for (const reader of this.#readers) {
      reader.follower?.close()
      reader.follower = undefined
    }
  }

  /** All that are there have all that there is, and nothing else. */
  async #catchUp(): Promise<void> {
    for (const reader of this.#readers) {
      if (reader.follower === undefined) {
        await reader.ended
        this.#resume(reader)
      }
      const model = this.#model(reader.agent)
      const due = expected(model, reader.filter, 'asc').filter(({ id }) => id > reader.after)
      while ((reader.got.at(-1)?.id ?? 0) < (due.at(-1)?.id ?? 0))
        await new Promise((resolve) => setImmediate(resolve))
      const ids = new Set(reader.got.map(({ id }) => id))
      expect(due.filter(({ id }) => !ids.has(id))).toEqual([])
      expect(reader.got).toEqual(model.all.filter(({ id }) => ids.has(id)))
      expect(ids.size).toBe(reader.got.length)
      expect(reader.got.filter((one) => one.id <= reader.after || !isWanted(one, reader.filter))).toEqual([])
    }
  }

  async #prune(): Promise<void> {
    await this.#store.prune(this.#now)
    for (const model of this.#models.values()) this.#trim(model, Number.POSITIVE_INFINITY)
  }

  async #remove(agent: string): Promise<void> {
    await this.#store.remove(agent)
    const cut = this.#readers.filter((reader) => reader.agent === agent)
    await Promise.all(cut.map(({ ended }) => ended))
    this.#readers = this.#readers.filter((reader) => reader.agent !== agent)
    this.#models.set(agent, { entries: [], last: 0, all: [] })
    expect(await this.#store.position(agent)).toBeUndefined()
    expect(await this.#store.newest(agent)).toBe(0)
  }

  async #restart(): Promise<void> {
    this.#cut()
    await this.#store.close()
    this.#store = this.#open()
  }

  #trim(model: Model, most: number): void {
    for (let count = 0; count < most; count += 1) {
      const [oldest] = model.entries
      const bytes = model.entries.reduce((sum, { text }) => sum + 256 + Buffer.byteLength(text), 0)
      if (oldest === undefined || (bytes <= this.#maxBytes && oldest.time >= this.#now - MAX_AGE_MS)) return
      model.entries.shift()
    }
  }

  #filter(given: AgentLogFilter): AgentLogFilter {
    const { startTime, endTime } = given
    return {
      ...given,
      ...(startTime !== undefined && { startTime: this.#now + startTime }),
      ...(endTime !== undefined && { endTime: this.#now + endTime }),
    }
  }

  #model(agent: string): Model {
    const model = this.#models.get(agent)
    if (model === undefined) throw new Error(`no agent ${agent}`)
    return model
  }

  #open(): SqliteAgentLogStore {
    return new SqliteAgentLogStore(this.#path, {
      maxBytes: this.#maxBytes,
      maxAgeMs: MAX_AGE_MS,
      now: () => this.#now,
    })
  }
}

function expected(model: Model, filter: AgentLogFilter, order: 'asc' | 'desc'): StoredLogEntry[] {
  const found = model.entries.filter((one) => isWanted(one, filter))
  return order === 'asc' ? found : found.toReversed()
}

function isWanted(one: StoredLogEntry, filter: AgentLogFilter): boolean {
  const { deploymentId, instanceId, sessionId, source, level, query, startTime, endTime } = filter
  return (
    (deploymentId === undefined || one.deploymentId === deploymentId) &&
    (instanceId === undefined || one.instanceId === instanceId) &&
    (sessionId === undefined || one.sessionId === sessionId) &&
    (source === undefined || one.source === source) &&
    (level === undefined || RANKS[one.level ?? 'info'] >= RANKS[level]) &&
    (query === undefined || one.text.toLowerCase().includes(query.toLowerCase())) &&
    (startTime === undefined || one.time >= startTime) &&
    (endTime === undefined || one.time <= endTime)
  )
}

describe('the log of an agent beside an array, whatever happens to it', () => {
  it.each([
    ['that fits', 10_000_000],
    ['that is pruned all the time', 8000],
  ])('%s', async (_, maxBytes) => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
      const folder = await mkdtemp(join(tmpdir(), 'agent-log-model-'))
      const trial = new Trial(folder, maxBytes)
      try {
        await trial.run(steps)
      } finally {
        await trial.close()
        await rm(folder, { recursive: true, force: true })
      }
    })
    await fc.assert(property, { numRuns: 50 })
  })
})
