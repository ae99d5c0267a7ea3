import { createHash, randomUUID } from 'node:crypto'
import { appendFileSync, cpSync, readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BuildLogsResponse } from '@botcli/protocol/cloud'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EventSource } from '../testing/event-source.ts'
import { LogServer } from '../testing/log-server.ts'
import { SegmentLogStore } from './segment-log-store.ts'
import type { SegmentLogWriter } from './segment-log-writer.ts'

const LEFT_OUT = /^\[(\d+) lines? (?:was|were) left out here/

type Step =
  | { readonly do: 'append'; readonly count: number; readonly length: number }
  | { readonly do: 'flush' | 'turn' | 'restart' | 'walk' | 'cut' | 'wait' }
  | { readonly do: 'read' | 'follow'; readonly limit: number }
  | { readonly do: 'crash'; readonly torn: string }

const limit = fc.oneof(fc.integer({ min: 1, max: 30 }), fc.constantFrom(500, 10_000))
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('append' as const),
      count: fc.oneof(fc.nat(5), fc.nat(700)),
      length: fc.nat(40),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('flush', 'turn', 'walk', 'cut', 'wait') }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('read', 'follow'), limit }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('crash' as const),
      torn: fc.constantFrom('', '"', '"torn', '"torn",', '\0\0\0'),
    }),
  },
)

/** A client that follows over connections that break. */
interface Reader {
  source: EventSource | undefined
  /** The number of the next line. */
  at: number
  readonly first: number
}

/** A log beside the array that it should be. */
class Trial {
  readonly #root: string
  readonly #maxBytes: number
  readonly #id = randomUUID()
  readonly #lines: string[] = []
  #flushed = 0
  #seen = 0
  #stores = 0
  #store: SegmentLogStore
  #writer: SegmentLogWriter | undefined
  #server: LogServer | undefined
  readonly #readers: Reader[] = []
  /** A walk to older lines: the line that was reached, and the token for more. */
  #walk: { before: number; token: string } | undefined

  constructor(root: string, maxBytes: number) {
    this.#root = root
    this.#maxBytes = maxBytes
    this.#store = this.#openStore()
  }

  async run(steps: readonly Step[]): Promise<void> {
    await this.#start()
    for (const one of steps) await this.#take(one)
    await this.#finish()
  }

  async close(): Promise<void> {
    for (const { source } of this.#readers) source?.cut()
    await this.#server?.close()
    await this.#store.close()
  }

  async #take(one: Step): Promise<void> {
    if (one.do === 'append') this.#append(one.count, one.length)
    else if (one.do === 'read') await this.#read(one.limit)
    else if (one.do === 'follow') await this.#follow(one.limit)
    else if (one.do === 'walk') await this.#goBack()
    else if (one.do === 'cut') this.#cutAll()
    else if (one.do === 'wait') await this.#catchUp()
    else if (one.do === 'restart') await this.#restart()
    else if (one.do === 'crash') await this.#crash(one.torn)
    else if (one.do === 'turn') await new Promise((resolve) => setImmediate(resolve))
    else await this.#flush()
  }

  #append(count: number, length: number): void {
    const first = this.#lines.length
    const added = Array.from({ length: count }, (_, index) => `${first + index} ${'"ü'.repeat(length)}`)
    expect(this.#writer?.append(added)).toBe(first)
    this.#lines.push(...added)
  }

  async #flush(): Promise<void> {
    await this.#writer?.flush()
    this.#flushed = this.#lines.length
  }

  async #read(limit: number): Promise<void> {
    const { logs, nextToken } = await this.#get(`?limit=${limit}`)
    const first = this.#check(logs, this.#lines.length)
    this.#seen = this.#lines.length
    expect(logs.length <= limit && (logs.length === limit || first === 0)).toBe(true)
    expect(nextToken === undefined).toBe(first === 0)
    if (nextToken !== undefined) this.#walk ??= { before: first, token: nextToken }
  }

  async #goBack(): Promise<void> {
    if (this.#walk === undefined) return
    const { logs, nextToken } = await this.#get(`?limit=17&nextToken=${this.#walk.token}`)
    const before = this.#check(logs, this.#walk.before)
    this.#walk = nextToken === undefined ? undefined : { before, token: nextToken }
    expect(before === 0).toBe(nextToken === undefined)
  }

  async #follow(limit: number): Promise<void> {
    if (this.#readers.length >= 6) return
    const first = this.#firstOf(limit)
    const source = await EventSource.open(this.#url(`?limit=${limit}`))
    const reader = { source, first, at: first }
    this.#readers.push(reader)
    this.#seen = this.#lines.length
  }

  #cutAll(): void {
    for (const reader of this.#readers) {
      this.#checkEvents(reader)
      reader.source?.cut()
      reader.source = undefined
    }
  }

  /** Connects again who was cut off, and waits until all have all. */
  async #catchUp(): Promise<void> {
    for (const reader of this.#readers) {
      if (reader.source === undefined) {
        const last = reader.at - 1
        const headers: Record<string, string> = last < 0 ? {} : { 'last-event-id': String(last) }
        reader.source = await EventSource.open(this.#url('?limit=10000'), headers)
        // Without a line there is nothing to go on after.
        if (last < 0) reader.at = this.#firstOf(10_000)
      }
      const { source } = reader
      await source.until(() => (source.lines.at(-1)?.id ?? reader.at - 1) >= this.#lines.length - 1)
      this.#checkEvents(reader)
    }
    if (this.#readers.length > 0) this.#seen = this.#lines.length
  }

  #checkEvents(reader: Reader): void {
    for (const { id, line } of reader.source?.lines ?? []) {
      if (id < reader.at) continue
      const leftOut = LEFT_OUT.exec(line)?.[1]
      if (leftOut === undefined) expect({ id, line }).toEqual({ id: reader.at, line: this.#lines[id] })
      else expect(id).toBe(reader.at + Number(leftOut) - 1)
      reader.at = id + 1
    }
    this.#seen = Math.max(this.#seen, reader.at)
  }

  async #restart(): Promise<void> {
    this.#cutAll()
    await this.#server?.close()
    await this.#store.close()
    this.#store = this.#openStore()
    await this.#start()
    expect(this.#store.state(this.#id).end).toBe(this.#lines.length)
  }

  /** The process is gone between two turns: what it had not written is lost, and half of a line may be there. */
  async #crash(torn: string): Promise<void> {
    this.#cutAll()
    await this.#server?.close()
    const left = this.#store
    const before = this.#folder()
    this.#stores += 1
    cpSync(before, this.#folder(), { recursive: true })
    await left.close()
    const log = join(this.#folder(), this.#id)
    const last = readdirSync(log).sort().at(-1) ?? ''
    appendFileSync(join(log, last), torn)
    this.#store = this.#openStore()
    await this.#start()
    const { end } = this.#store.state(this.#id)
    expect(end).toBeGreaterThanOrEqual(Math.max(this.#flushed, this.#seen))
    expect(end).toBeLessThanOrEqual(this.#lines.length)
    this.#lines.length = end
  }

  async #finish(): Promise<void> {
    await this.#catchUp()
    await this.#writer?.seal()
    if (this.#server !== undefined) this.#server.status = 'success'
    const { logs } = await this.#get('?limit=10000')
    const { sha256 } = this.#store.state(this.#id)
    for (const { source } of this.#readers) {
      await source?.ended()
      expect(source?.end).toEqual({ status: 'success', lines: this.#lines.length, sha256 })
    }
    if (logs.length === 10_000) return
    const text = logs.map((line) => `${line}\n`).join('')
    expect(sha256).toBe(createHash('sha256').update(text).digest('hex'))
  }

  /** Checks lines that end before a number, and gives the number of the first of them. */
  #check(logs: readonly string[], end: number): number {
    let at = end
    for (const line of logs.toReversed()) {
      const leftOut = LEFT_OUT.exec(line)?.[1]
      at -= Number(leftOut ?? 1)
      if (leftOut === undefined) expect(line).toBe(this.#lines[at])
    }
    return at
  }

  #firstOf(limit: number): number {
    return this.#store.tail(this.#id, limit).first
  }

  async #get(query: string): Promise<BuildLogsResponse> {
    const response = await fetch(this.#url(query))
    expect(response.status).toBe(200)
    return (await response.json()) as BuildLogsResponse
  }

  #url(query: string): string {
    return this.#server?.logsUrl(this.#id, query) ?? ''
  }

  #folder(): string {
    return join(this.#root, String(this.#stores))
  }

  #openStore(): SegmentLogStore {
    return new SegmentLogStore(this.#folder(), { maxBytes: this.#maxBytes })
  }

  async #start(): Promise<void> {
    this.#server = await LogServer.start(this.#store)
    this.#writer = await this.#store.openWriter(this.#id)
  }
}

describe('a log beside an array, whatever happens to it', () => {
  it.each([
    ['that fits', 100_000_000],
    ['that is overlong', 9000],
  ])('%s', async (_, maxBytes) => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const root = await mkdtemp(join(tmpdir(), 'log-model-'))
      const trial = new Trial(root, maxBytes)
      try {
        await trial.run(steps)
      } finally {
        await trial.close()
        await rm(root, { recursive: true, force: true })
      }
    })
    await fc.assert(property, { numRuns: 40 })
  })
})
