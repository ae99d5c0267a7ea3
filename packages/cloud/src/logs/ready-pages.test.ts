import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LogServer } from '../testing/log-server.ts'
import { type ReadyPage, ReadyPages } from './ready-pages.ts'
import { SegmentLogStore } from './segment-log-store.ts'

function page(bytes: number): ReadyPage {
  return { head: [], body: Buffer.alloc(bytes) }
}

describe('pages that are kept ready', () => {
  it('are those asked for a second time', () => {
    const pages = new ReadyPages()
    expect(pages.isWanted('a', 10)).toBe(false)
    expect(pages.isWanted('b', 10)).toBe(false)
    expect(pages.isWanted('a', 10)).toBe(true)
  })

  it('are not those that come again only after more than can be kept', () => {
    const pages = new ReadyPages(100)
    const ask = (...keys: string[]) => keys.map((key) => pages.isWanted(key, 30))
    expect(ask('a', 'b', 'c', 'd', 'a', 'b', 'c', 'd')).not.toContain(true)
    expect(ask('b', 'd')).toEqual([true, true])
  })

  it('never take more than their share; the one unused for longest goes', () => {
    const pages = new ReadyPages(100)
    pages.keep('a', page(40))
    pages.keep('b', page(40))
    pages.get('a')
    pages.keep('c', page(40))
    expect(pages.bytes).toBe(80)
    expect(pages.get('b')).toBeUndefined()
    expect(pages.get('a')).toBeDefined()
    expect(pages.get('c')).toBeDefined()
    pages.keep('d', page(101))
    expect(pages.bytes).toBe(0)
  })

  it('count once when two requests made them at the same time', () => {
    const pages = new ReadyPages(100)
    pages.keep('a', page(40))
    pages.keep('a', page(40))
    expect(pages.bytes).toBe(40)
  })
})

describe('a log that is read again and again', () => {
  let folder: string
  let logs: SegmentLogStore
  let server: LogServer

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ready-pages-'))
    logs = new SegmentLogStore(folder, { maxBytes: 2000 })
    server = await LogServer.start(logs)
  })
  afterEach(async () => {
    await server.close()
    await logs.close()
    await rm(folder, { recursive: true, force: true })
  })

  async function read(id: string, query = '', method = 'GET'): Promise<{ head: string; body: string }> {
    const response = await fetch(server.logsUrl(id, query), { method })
    const names = ['content-type', 'content-length', 'cache-control', 'vary', 'etag']
    const head = names.map((name) => `${name}: ${response.headers.get(name)}`).join('\n')
    return { head, body: await response.text() }
  }

  it('is the same each time, and the newest after each change', async () => {
    const ids = [randomUUID(), randomUUID()]
    const writers = await Promise.all(ids.map((id) => logs.openWriter(id)))
    for (let round = 0; round < 20; round += 1) {
      // The same numbers in two builds, other lines, and soon some of them left out.
      for (const [index, writer] of writers.entries()) {
        writer.append([`round ${round} of ${index}`, '"é"'.repeat(round)])
      }
      for (const [index, id] of ids.entries()) {
        const first = await read(id, '?limit=3')
        expect(JSON.parse(first.body).logs).toContain(`round ${round} of ${index}`)
        expect(first.head).toContain(`content-length: ${Buffer.byteLength(first.body)}`)
        for (let again = 0; again < 3; again += 1) expect(await read(id, '?limit=3')).toEqual(first)
        expect(await read(id, '?limit=3', 'HEAD')).toEqual({ head: first.head, body: '' })
      }
    }
    const [id = ''] = ids
    const growing = await read(id, '?limit=3')
    await writers[0]?.seal()
    const sealed = await read(id, '?limit=3')
    expect(sealed.body).toBe(growing.body)
    expect(sealed.head).not.toBe(growing.head)
    expect(await read(id, '?limit=3')).toEqual(sealed)
    await logs.remove(id)
    expect((await read(id, '?limit=3')).body).toBe('{"logs":[]}')
  })
})
