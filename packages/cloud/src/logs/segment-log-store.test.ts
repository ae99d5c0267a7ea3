import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, readdirSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { numbered } from '../testing/numbered.ts'
import type { LogPage } from './log-store.ts'
import { parseLines } from './log-text.ts'
import { SegmentLogStore, type SegmentLogStoreOptions } from './segment-log-store.ts'

const ID = '6f1c2c9e-7d0b-4c4e-9a53-0d6f1f6f2c11'
let folder: string
let stores: SegmentLogStore[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'logs-'))
  stores = []
})
afterEach(async () => {
  for (const store of stores) await store.close()
  await rm(folder, { recursive: true, force: true })
})

function open(options?: SegmentLogStoreOptions): SegmentLogStore {
  const store = new SegmentLogStore(folder, options)
  stores.push(store)
  return store
}

async function linesOf(page: LogPage): Promise<readonly string[]> {
  const target = Buffer.alloc(page.bytes)
  await page.copyTo(target)
  const lines = parseLines(target)
  expect(lines).toHaveLength(page.count)
  return lines
}

function hashOf(lines: readonly string[]): string {
  return createHash('sha256')
    .update(lines.map((line) => `${line}\n`).join(''))
    .digest('hex')
}

/** The files of the log, in order. */
function segments(): string[] {
  const names = readdirSync(join(folder, ID)).filter((name) => name.endsWith('.log'))
  return names.sort().map((name) => join(folder, ID, name))
}

describe('a log', () => {
  it('is empty before the first line', async () => {
    const store = open()
    expect(store.state(ID)).toEqual({ end: 0, sealed: false })
    const page = store.tail(ID, 10)
    expect(page).toMatchObject({ first: 0, end: 0, count: 0, bytes: 0 })
    expect(await linesOf(page)).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  it('gives lines back as they were, as soon as they are appended', async () => {
    const store = open()
    const writer = await store.openWriter(ID)
    const lines = ['plain', '', '"quoted" \\ back', 'tab\t, null \u0000', 'ünï 👋', '\u2028', ',\n,', ' ']
    expect(writer.append(lines)).toBe(0)
    expect(await linesOf(store.tail(ID, 100))).toEqual(lines)
    expect(writer.append(['more'])).toBe(lines.length)
    expect(writer.append([])).toBe(lines.length + 1)
    expect(store.state(ID)).toEqual({ end: lines.length + 1, sealed: false })
    expect(await linesOf(store.tail(ID, 2))).toEqual([' ', 'more'])
  })

  it('is read in pages of any size from any place', async () => {
    const store = open()
    const writer = await store.openWriter(ID)
    const lines = numbered(3000)
    for (let at = 0; at < lines.length; at += 77) writer.append(lines.slice(at, at + 77))
    for (const before of [0, 1, 255, 256, 257, 1234, 2999, 3000, 9999]) {
      for (const limit of [1, 2, 256, 300, 10_000]) {
        const page = store.before(ID, before, limit)
        const end = Math.min(before, lines.length)
        expect(page).toMatchObject({ first: Math.max(0, end - limit), end })
        expect(await linesOf(page)).toEqual(lines.slice(page.first, page.end))
      }
    }
  })

  it('is read in pieces as it is read in one go', async () => {
    const store = open()
    const writer = await store.openWriter(ID)
    writer.append(Array.from({ length: 3000 }, (_, index) => `${index} ${'ä'.repeat(500)}`))
    const page = store.before(ID, 2990, 2900)
    const whole = Buffer.alloc(page.bytes)
    page.copyTo(whole)
    const pieces: Buffer[] = []
    for await (const piece of page.pieces()) pieces.push(Buffer.from(piece))
    expect(pieces.length).toBeGreaterThan(2)
    expect(Buffer.concat(pieces).equals(whole)).toBe(true)
  })

  it('refuses a second writer, and goes on with the next one', async () => {
    const store = open()
    const writer = await store.openWriter(ID)
    writer.append(['one'])
    await expect(store.openWriter(ID)).rejects.toMatchObject({ code: 'CONFLICT' })
    await writer.close()
    expect(() => writer.append(['late'])).toThrow(/takes no more lines/)
    const next = await store.openWriter(ID)
    expect(next.append(['two'])).toBe(1)
    expect(await linesOf(store.tail(ID, 10))).toEqual(['one', 'two'])
  })

  it('is sealed for good, with the number of its lines and their sha256', async () => {
    const lines = ['one', 'zwö', '']
    const store = open()
    const writer = await store.openWriter(ID)
    writer.append(lines)
    await writer.seal()
    expect(store.state(ID)).toEqual({ end: 3, sealed: true, sha256: hashOf(lines) })
    await expect(store.openWriter(ID)).rejects.toMatchObject({ code: 'CONFLICT' })
    await store.close()
    const again = open()
    expect(again.state(ID)).toEqual({ end: 3, sealed: true, sha256: hashOf(lines) })
    expect(await linesOf(again.tail(ID, 10))).toEqual(lines)
    await expect(again.openWriter(ID)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('may be sealed without a line', async () => {
    const store = open()
    await (await store.openWriter(ID)).seal()
    expect(store.state(ID)).toEqual({ end: 0, sealed: true, sha256: hashOf([]) })
  })

  it('finds every line of a sealed log after a restart', async () => {
    const store = open({ maxBytes: 40_000 })
    const writer = await store.openWriter(ID)
    writer.append(numbered(5000))
    await writer.seal()
    const before = await linesOf(store.tail(ID, 10_000))
    const { sha256 } = store.state(ID)
    expect(sha256).toBe(hashOf(before))
    await store.close()
    const again = open({ maxBytes: 40_000 })
    expect(await linesOf(again.tail(ID, 10_000))).toEqual(before)
    expect(await linesOf(again.before(ID, 4990, 3))).toEqual(numbered(3, 4987))
  })

  it('is gone when it was removed', async () => {
    const store = open()
    const writer = await store.openWriter(ID)
    writer.append(['one'])
    await expect(store.remove(ID)).rejects.toMatchObject({ code: 'CONFLICT' })
    await writer.close()
    await store.remove(ID)
    expect(store.state(ID).end).toBe(0)
    expect(readdirSync(folder)).toEqual([])
    await store.remove(ID)
  })

  it('has an id that cannot leave the folder', () => {
    for (const id of ['../other', '', 'a/b', '.', 'x'.repeat(65)]) {
      expect(() => open().state(id)).toThrow(/cannot be the id/)
    }
  })
})

describe('a log after a crash', () => {
  async function crashed(lines: readonly string[]): Promise<string> {
    const store = open()
    const writer = await store.openWriter(ID)
    writer.append(lines)
    await writer.close()
    await store.close()
    return segments().at(-1) ?? ''
  }

  it.each([
    ['half a line', '"half of a li'],
    ['a line without its newline', '"half of a line",'],
    ['zeros', '\0'.repeat(5000)],
    ['a line and zeros', `"whole",\n${'\0'.repeat(50)}",\n`],
  ])('is cut off after the last whole line: %s', async (_, rest) => {
    const lines = numbered(700)
    appendFileSync(await crashed(lines), rest)
    const whole = rest.startsWith('"whole"') ? [...lines, 'whole'] : lines
    const store = open()
    expect(await linesOf(store.tail(ID, 1000))).toEqual(whole)
    const writer = await store.openWriter(ID)
    expect(writer.append(['next'])).toBe(whole.length)
    expect(await linesOf(store.tail(ID, 1000))).toEqual([...whole, 'next'])
    await writer.seal()
    expect(store.state(ID).sha256).toBe(hashOf([...whole, 'next']))
  })

  it('may be cut anywhere', async () => {
    const lines = numbered(40)
    const path = await crashed(lines)
    const store = open()
    for (let size = statSync(path).size; size >= 0; size -= 1) {
      truncateSync(path, size)
      const fresh = open()
      const page = fresh.tail(ID, 100)
      expect(await linesOf(page)).toEqual(lines.slice(0, page.end))
      await fresh.close()
    }
    expect(store.state(ID).end).toBe(0)
  })

  it('gives up what stands behind lines that were lost', async () => {
    const store = open({ maxBytes: 16_000 })
    const writer = await store.openWriter(ID)
    writer.append(numbered(1200))
    await writer.close()
    await store.close()
    const files = segments()
    expect(files.length).toBeGreaterThan(4)
    const torn = files.at(-2) ?? ''
    truncateSync(torn, statSync(torn).size - 3)
    const again = open({ maxBytes: 16_000 })
    const { end } = again.state(ID)
    expect(end).toBe(Number(/(\d+)\.log$/.exec(files.at(-1) ?? '')?.[1]) - 1)
    const next = await again.openWriter(ID)
    expect(next.append(['next'])).toBe(end)
    expect(segments()).not.toContain(files.at(-1))
    expect(await linesOf(again.tail(ID, 2))).toEqual([`line ${end - 1}`, 'next'])
  })

  it('is not sealed by a seal that was not finished', async () => {
    const path = await crashed(['one'])
    writeFileSync(join(path, '..', 'index'), 'x')
    writeFileSync(join(path, '..', 'sealed.json.draft'), '{"version":1')
    const store = open()
    expect(store.state(ID)).toEqual({ end: 1, sealed: false })
    const writer = await store.openWriter(ID)
    await writer.seal()
    expect(store.state(ID)).toMatchObject({ end: 1, sealed: true })
  })
})

describe('an overlong log', () => {
  const LEFT_OUT =
    /^\[(\d+) lines? (?:was|were) left out here: a log is kept up to 8000 bytes, its start and its end\]$/

  it('keeps its start and its end, with a line that says how many were left out', async () => {
    const store = open({ maxBytes: 8000 })
    const writer = await store.openWriter(ID)
    const lines = numbered(5000)
    for (let at = 0; at < lines.length; at += 100) writer.append(lines.slice(at, at + 100))
    const size = segments().reduce((sum, path) => sum + statSync(path).size, 0)
    expect(size).toBeLessThanOrEqual(8000)
    expect(size).toBeGreaterThan(7000)
    expect(store.state(ID).end).toBe(5000)
    const kept = await linesOf(store.tail(ID, 10_000))
    const mark = kept.findIndex((line) => LEFT_OUT.test(line))
    const leftOut = Number(LEFT_OUT.exec(kept[mark] ?? '')?.[1])
    expect(mark).toBeGreaterThan(200)
    expect([...kept.slice(0, mark), ...kept.slice(mark + 1)]).toEqual([
      ...lines.slice(0, mark),
      ...lines.slice(mark + leftOut),
    ])
    await writer.seal()
    expect(store.state(ID).sha256).toBe(hashOf(kept))
  })

  it('gives each kept line once to a reader that goes back while more is left out', async () => {
    const store = open({ maxBytes: 8000 })
    const writer = await store.openWriter(ID)
    writer.append(numbered(2000))
    const seen: string[] = []
    let before = store.state(ID).end
    let appended = 2000
    while (before > 0) {
      const page = store.before(ID, before, 7)
      expect(page.end).toBe(before)
      expect(page.count).toBeLessThanOrEqual(7)
      seen.unshift(...(await linesOf(page)))
      before = page.first
      writer.append(numbered(9, appended))
      appended += 9
    }
    const mark = seen.findIndex((line) => LEFT_OUT.test(line))
    const leftOut = Number(LEFT_OUT.exec(seen[mark] ?? '')?.[1])
    expect([...seen.slice(0, mark), ...numbered(leftOut, mark), ...seen.slice(mark + 1)]).toEqual(
      numbered(2000),
    )
  })

  it('tells a follower that fell behind how many it missed', async () => {
    const store = open({ maxBytes: 8000 })
    const writer = await store.openWriter(ID)
    const follower = store.follow(ID, 0)
    const batches = follower[Symbol.asyncIterator]()
    writer.append(numbered(10))
    const first = (await batches.next()).value
    expect(first).toMatchObject({ first: 0, end: 10, count: 10 })
    writer.append(numbered(5000, 10))
    await writer.seal()
    let at = 10
    let missed = 0
    for (let next = await batches.next(); next.done !== true; next = await batches.next()) {
      const { value } = next
      expect(value.first).toBe(at)
      const lines = parseLines(value.body)
      const leftOut = LEFT_OUT.exec(lines[0] ?? '')?.[1]
      if (leftOut === undefined) expect(lines).toEqual(numbered(value.end - value.first, value.first))
      else missed += Number(leftOut)
      expect(value.end - value.first).toBe(leftOut === undefined ? value.count : Number(leftOut))
      at = value.end
    }
    expect(at).toBe(5010)
    expect(missed).toBeGreaterThan(4000)
  })

  it('can be read to its end in pieces while parts of it are dropped', async () => {
    const store = open({ maxBytes: 4_000_000 })
    const writer = await store.openWriter(ID)
    writer.append(Array.from({ length: 9000 }, (_, index) => `${index} ${'x'.repeat(500)}`))
    const page = store.tail(ID, 10_000)
    const whole = Buffer.alloc(page.bytes)
    page.copyTo(whole)
    const pieces: Buffer[] = []
    for await (const piece of page.pieces()) {
      pieces.push(Buffer.from(piece))
      writer.append(new Array(800).fill('y'.repeat(500)))
    }
    expect(Buffer.concat(pieces).equals(whole)).toBe(true)
  })
})

describe('many logs', () => {
  it('take a bounded number of open files and of memory', async () => {
    const store = open({ maxOpenFiles: 16 })
    const ids = Array.from({ length: 600 }, (_, index) => `log-${index}`)
    for (const [index, id] of ids.entries()) {
      const writer = await store.openWriter(id)
      writer.append(numbered(3, index))
      if (index % 2 === 0) await writer.seal()
      else await writer.close()
    }
    for (const [index, id] of ids.entries())
      expect(await linesOf(store.tail(id, 10))).toEqual(numbered(3, index))
    expect(store.held.files).toBeLessThanOrEqual(16)
    expect(store.held.logs).toBeLessThanOrEqual(256)
  })

  it('are cleaned of what a removal left', async () => {
    mkdirSync(join(folder, '.removed-abc'))
    writeFileSync(join(folder, '.removed-abc', '0000000000000000.log'), '')
    open()
    expect(readdirSync(folder)).toEqual([])
  })
})
