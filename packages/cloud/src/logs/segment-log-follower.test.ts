import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { numbered } from '../testing/numbered.ts'
import { parseLines } from './log-text.ts'
import { SegmentLogStore } from './segment-log-store.ts'

const ID = '6f1c2c9e-7d0b-4c4e-9a53-0d6f1f6f2c11'
let folder: string
let store: SegmentLogStore

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logs-'))
  store = new SegmentLogStore(folder)
})
afterEach(async () => {
  await store.close()
  await rm(folder, { recursive: true, force: true })
})

it('get every line once, however many they are and wherever they begin', async () => {
  const writer = await store.openWriter(ID)
  writer.append(numbered(1000))
  const readers = Array.from({ length: 50 }, (_, index) => ({
    from: index * 20,
    lines: collect(index * 20),
  }))
  for (let at = 1000; at < 3000; at += 50) {
    writer.append(numbered(50, at))
    if (at % 200 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await writer.seal()
  for (const { from, lines } of readers) expect(await lines).toEqual(numbered(3000 - from, from))
})

it('share what was read', async () => {
  const writer = await store.openWriter(ID)
  const iterators = [0, 1, 2].map(() => store.follow(ID, 0)[Symbol.asyncIterator]())
  const waiting = iterators.map((iterator) => iterator.next())
  writer.append(['one', 'two'])
  const [first, ...others] = (await Promise.all(waiting)).map(({ value }) => value)
  expect(first).toMatchObject({ first: 0, end: 2 })
  for (const other of others) expect(other).toBe(first)
  for (const iterator of iterators) await iterator.return?.(undefined)
})

it('wait for a log that has no line yet, and end when they are closed', async () => {
  const follower = store.follow(ID, 0)
  const next = follower[Symbol.asyncIterator]().next()
  const writer = await store.openWriter(ID)
  writer.append(['one'])
  expect((await next).value).toMatchObject({ first: 0, end: 1 })
  const closed = follower[Symbol.asyncIterator]().next()
  follower.close()
  expect((await closed).done).toBe(true)
})

it('end when the log is removed, with what it had', async () => {
  const writer = await store.openWriter(ID)
  writer.append(['one'])
  await writer.close()
  const reading = collect(0)
  await store.remove(ID)
  expect(await reading).toEqual(['one'])
})

it('end when the store closes', async () => {
  const reading = collect(0)
  await store.close()
  expect(await reading).toEqual([])
})

async function collect(from: number): Promise<string[]> {
  const lines: string[] = []
  for await (const { body, count } of store.follow(ID, from)) {
    const parsed = parseLines(body)
    expect(parsed).toHaveLength(count)
    lines.push(...parsed)
  }
  return lines
}
