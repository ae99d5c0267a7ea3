import { createHash, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BuildLogsResponse, buildLogsResponse } from '@botcli/protocol/cloud'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EventSource } from '../testing/event-source.ts'
import { LogServer } from '../testing/log-server.ts'
import { ManualTimers } from '../testing/manual-timers.ts'
import { numbered } from '../testing/numbered.ts'
import type { LogWriter } from './log-store.ts'
import { SegmentLogStore } from './segment-log-store.ts'

let folder: string
let logs: SegmentLogStore
let server: LogServer
let id: string
let writer: LogWriter
let timers: ManualTimers

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'log-route-'))
  logs = new SegmentLogStore(folder)
  timers = new ManualTimers()
  server = await LogServer.start(logs, { after: timers.after, maxFollowers: 20 })
  id = randomUUID()
  writer = await logs.openWriter(id)
})
afterEach(async () => {
  await server.close()
  await logs.close()
  await rm(folder, { recursive: true, force: true })
})

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2))
}

async function read(query = '', headers: Record<string, string> = {}): Promise<BuildLogsResponse> {
  const response = await fetch(server.logsUrl(id, query), { headers })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  return buildLogsResponse.parse(await response.json())
}

async function refused(query: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(server.logsUrl(id, query), { headers })
  expect(response.status).toBe(400)
  const body = (await response.json()) as { error: string; code: string }
  expect(body.code).toBe('INVALID_REQUEST')
  return body.error
}

describe('a log as JSON', () => {
  it('is empty before the first line', async () => {
    expect(await read()).toEqual({ logs: [] })
    id = randomUUID()
    expect(await read()).toEqual({ logs: [] })
  })

  it('is its newest 500 lines, oldest first, and a token for those before', async () => {
    writer.append(numbered(500))
    expect(await read()).toEqual({ logs: numbered(500) })
    writer.append(['line 500'])
    expect(await read()).toEqual({ logs: numbered(500, 1), nextToken: expect.any(String) })
  })

  it('is walked back by tokens that do not skip or repeat while the build goes on', async () => {
    writer.append(numbered(1000))
    let page = await read('?limit=90')
    const seen = [...page.logs]
    for (let round = 0; page.nextToken !== undefined; round += 1) {
      writer.append(numbered(13, 1000 + round * 13))
      page = await read(`?limit=90&nextToken=${page.nextToken}`)
      seen.unshift(...page.logs)
    }
    expect(seen).toEqual(numbered(1000))
  })

  it('keeps its tokens over a restart and a seal', async () => {
    writer.append(numbered(30))
    const { nextToken } = await read('?limit=10')
    await writer.seal()
    await server.close()
    await logs.close()
    logs = new SegmentLogStore(folder)
    server = await LogServer.start(logs)
    expect(await read(`?limit=10&nextToken=${nextToken}`)).toMatchObject({ logs: numbered(10, 10) })
  })

  it('takes every limit from 1 to 10000', async () => {
    writer.append(numbered(10_001))
    expect((await read('?limit=1')).logs).toEqual(['line 10000'])
    expect((await read('?limit=10000')).logs).toEqual(numbered(10_000, 1))
    expect((await read('?limit=%35')).logs).toHaveLength(5)
  })

  it.each(['0', '10001', '-1', '1.5', '1e3', '', 'ten', ' 5', '0x10', '99999999999999999999', 'NaN', '5,6'])(
    'refuses a limit of %j',
    async (limit) => {
      expect(await refused(`?limit=${encodeURIComponent(limit)}`)).toMatch(
        /^limit must be .* from 1 to 10000/,
      )
    },
  )

  it('refuses parameters that are given twice', async () => {
    expect(await refused('?limit=5&limit=5')).toMatch(/^limit may be given once/)
    writer.append(numbered(3))
    const { nextToken } = await read('?limit=1')
    expect(await refused(`?nextToken=${nextToken}&nextToken=${nextToken}`)).toMatch(/given once/)
    for (const query of ['?other=x', '?limit=5&LIMIT=5', '?limit[]=5']) {
      expect(await refused(query)).toMatch(/^The parameters are limit and nextToken/)
    }
  })

  it('refuses tokens that are malformed, changed or of another build', async () => {
    writer.append(numbered(3))
    const { nextToken = '' } = await read('?limit=1')
    for (let at = 0; at < nextToken.length; at += 1) {
      const other = nextToken[at] === 'A' ? 'B' : 'A'
      await refused(`?nextToken=${nextToken.slice(0, at)}${other}${nextToken.slice(at + 1)}`)
    }
    for (const token of ['', 'x', `${nextToken}A`, `${nextToken}%3D`, nextToken.slice(1), '%00', 'é']) {
      await refused(`?nextToken=${token}`)
    }
    id = randomUUID()
    expect(await refused(`?nextToken=${nextToken}`)).toMatch(/of another build/)
  })

  it('is not sent again when the client has it', async () => {
    writer.append(numbered(3))
    const first = await fetch(server.logsUrl(id))
    const etag = first.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\x21\x23-\x7e]+"$/)
    expect(first.headers.get('vary')).toBe('Accept')
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await fetch(server.logsUrl(id), { headers: { 'if-none-match': known } })
      expect([again.status, await again.text()]).toEqual([304, ''])
      expect(again.headers.get('etag')).toBe(etag)
    }
    expect(await read('?limit=2', { 'if-none-match': etag })).toMatchObject({ logs: numbered(2, 1) })
    writer.append(['line 3'])
    expect(await read('', { 'if-none-match': etag })).toEqual({ logs: numbered(4) })
  })

  it('is described by HEAD', async () => {
    writer.append(numbered(3))
    const got = await fetch(server.logsUrl(id))
    const head = await fetch(server.logsUrl(id), { method: 'HEAD' })
    expect(head.status).toBe(200)
    for (const name of ['content-type', 'content-length', 'etag']) {
      expect(head.headers.get(name)).toBe(got.headers.get(name))
    }
    expect(Number(got.headers.get('content-length'))).toBe((await got.arrayBuffer()).byteLength)
  })

  it('is read and nothing else', async () => {
    const response = await fetch(server.logsUrl(id), { method: 'POST' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('comes whole when it is too large for one piece, also to many clients at once', async () => {
    const lines = Array.from({ length: 600 }, (_, index) => `${index} ${'ö'.repeat(8000)}`)
    writer.append(lines)
    const answers = await Promise.all([1, 2, 3, 4].map(() => read('?limit=10000')))
    for (const answer of answers) expect(answer).toEqual({ logs: lines })
  })

  it('comes right to clients that share connections', async () => {
    writer.append(numbered(5000))
    const sizes = Array.from({ length: 200 }, (_, index) => 1 + ((index * 37) % 900))
    const answers = await Promise.all(sizes.map((limit) => read(`?limit=${limit}`)))
    for (const [index, limit] of sizes.entries())
      expect(answers[index]?.logs).toEqual(numbered(limit, 5000 - limit))
  })

  it('survives clients that go away in the middle', async () => {
    writer.append(Array.from({ length: 2000 }, () => 'x'.repeat(8000)))
    for (const accept of ['application/json', 'text/plain']) {
      const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
      socket.write(`GET /v1/builds/${id}/logs?limit=10000 HTTP/1.1\r\nhost: x\r\naccept: ${accept}\r\n\r\n`)
      await new Promise((resolve) => socket.once('data', resolve))
      socket.destroy()
    }
    await until(() => server.active === 0)
    expect((await read('?limit=1')).logs).toHaveLength(1)
  })

  it('is cut off from a client that takes nothing for a minute', async () => {
    writer.append(Array.from({ length: 9000 }, () => 'x'.repeat(8000)))
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
    socket.pause()
    socket.on('error', () => {})
    socket.write(`GET /v1/builds/${id}/logs?limit=10000 HTTP/1.1\r\nhost: x\r\n\r\n`)
    await until(() => timers.waiting.includes(60_000))
    while (server.active > 0) {
      timers.pass(60_000)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    socket.destroy()
  })
})

describe('what a client accepts', () => {
  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'application/json'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/*', 'text/event-stream'],
    ['TEXT/Plain; q=1', 'text/plain; charset=utf-8'],
    ['text/plain;q=0.5, application/json;q=0.4', 'text/plain; charset=utf-8'],
    ['text/plain;q=0.5, application/json', 'application/json'],
    ['text/*;q=0.9, text/event-stream;q=0.1, application/json;q=0.2', 'text/plain; charset=utf-8'],
    ['text/event-stream;q=0, */*;q=0.1', 'application/json'],
    ['application/json;q=0, text/plain', 'text/plain; charset=utf-8'],
    ['application/json;q=0, */*', 'text/event-stream'],
    ['image/png', 'application/json'],
    ['text/plain;q=nonsense', 'application/json'],
    [',;/,q=1', 'application/json'],
    ['', 'application/json'],
  ])('%j gets %s', async (accept, type) => {
    const got = await new Promise((resolve, reject) => {
      const outgoing = request(server.logsUrl(id), {
        method: 'HEAD',
        headers: accept === undefined ? {} : { accept },
      })
      outgoing.on('response', (response) => resolve(response.headers['content-type']))
      outgoing.on('error', reject)
      outgoing.end()
    })
    expect(got).toBe(type)
  })
})

describe('a log as text', () => {
  it('is a line a line', async () => {
    writer.append(['one', '', 'zwö "x"'])
    const response = await fetch(server.logsUrl(id), { headers: { accept: 'text/plain' } })
    expect(await response.text()).toBe('one\n\nzwö "x"\n')
    expect(response.headers.get('link')).toBeNull()
    const etag = response.headers.get('etag') ?? ''
    const again = await fetch(server.logsUrl(id), {
      headers: { accept: 'text/plain', 'if-none-match': etag },
    })
    expect(again.status).toBe(304)
    expect((await fetch(server.logsUrl(id), { headers: { 'if-none-match': etag } })).status).toBe(200)
  })

  it('tells where older lines are', async () => {
    writer.append(Array.from({ length: 3000 }, (_, index) => `${index} ${'é'.repeat(300)}`))
    const headers = { accept: 'text/plain' }
    let url = server.logsUrl(id, '?limit=1700')
    let text = ''
    while (url !== '') {
      const response = await fetch(url, { headers })
      text = (await response.text()) + text
      const next = /<(.*)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
      url = next === undefined ? '' : new URL(next, url).href
    }
    expect(text.split('\n').map((line) => line.split(' ')[0])).toEqual(
      [...Array(3000).keys(), ''].map(String),
    )
  })

  it('may be empty', async () => {
    const response = await fetch(server.logsUrl(id), { headers: { accept: 'text/plain' } })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })
})

describe('a log that is followed', () => {
  it('comes line by line, with numbers, until it is sealed and the build over', async () => {
    writer.append(numbered(3))
    const source = await EventSource.open(server.logsUrl(id, '?limit=2'))
    expect(source.response.headers).toMatchObject({
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      'cache-control': 'no-store',
    })
    expect(source.response.headers['content-encoding']).toBeUndefined()
    await source.until(() => source.lines.length === 2)
    writer.append(['line 3', 'with "quotes" and ü'])
    await source.until(() => source.lines.length === 4)
    expect(source.lines).toEqual([
      { id: 1, line: 'line 1' },
      { id: 2, line: 'line 2' },
      { id: 3, line: 'line 3' },
      { id: 4, line: 'with "quotes" and ü' },
    ])
    await writer.seal()
    await until(() => timers.waiting.includes(100))
    timers.pass(100)
    await until(() => timers.waiting.includes(100))
    expect(source.end).toBeUndefined()
    server.status = 'failed'
    timers.pass(100)
    await source.ended()
    const text = [...numbered(4), 'with "quotes" and ü', ''].join('\n')
    const sha256 = createHash('sha256').update(text).digest('hex')
    expect(source.end).toEqual({ status: 'failed', lines: 5, sha256 })
    await until(() => server.active === 0)
    expect(timers.waiting).toEqual([])
  })

  it('goes on after the last line that a client had', async () => {
    writer.append(numbered(1000))
    const source = await EventSource.open(server.logsUrl(id), { 'last-event-id': '3' })
    await source.until(() => source.lines.length === 996)
    expect(source.lines[0]).toEqual({ id: 4, line: 'line 4' })
    source.cut()
    await until(() => server.active === 0)
    writer.append(['line 1000'])
    const next = await EventSource.open(server.logsUrl(id, '?limit=1'), { 'last-event-id': '999' })
    await next.until(() => next.lines.length === 1)
    expect(next.lines).toEqual([{ id: 1000, line: 'line 1000' }])
    const early = await EventSource.open(server.logsUrl(id), { 'last-event-id': '5000' })
    writer.append(['line 1001'])
    await early.until(() => early.lines.length === 1)
    expect(early.lines).toEqual([{ id: 1001, line: 'line 1001' }])
  })

  it.each(['x', '-1', '1.5', '1 2', '9999999999999999'])('refuses Last-Event-ID %j', async (last) => {
    await refused('', { accept: 'text/event-stream', 'last-event-id': last })
  })

  it('refuses what is for pages', async () => {
    writer.append(numbered(3))
    const { nextToken } = await read('?limit=1')
    expect(await refused(`?nextToken=${nextToken}`, { accept: 'text/event-stream' })).toMatch(/Last-Event-ID/)
    await refused('?limit=0', { accept: 'text/event-stream' })
  })

  it('comments every 15 seconds', async () => {
    const source = await EventSource.open(server.logsUrl(id))
    for (let count = 1; count <= 3; count += 1) {
      await until(() => timers.waiting.includes(15_000))
      timers.pass(15_000)
      await source.until(() => source.events.filter(({ comment }) => comment !== undefined).length === count)
    }
    source.cut()
    await until(() => server.active === 0)
    expect(timers.waiting).toEqual([])
  })

  it('ends without an end when the log is removed or the server stops', async () => {
    await writer.close()
    const removed = await EventSource.open(server.logsUrl(id))
    await removed.until(() => removed.events.length > 0)
    await logs.remove(id)
    await removed.ended()
    const stopped = await EventSource.open(server.logsUrl(id))
    await stopped.until(() => stopped.events.length > 0)
    server.route.close()
    await stopped.ended()
    expect([removed.end, stopped.end]).toEqual([undefined, undefined])
    expect((await fetch(server.logsUrl(id), { headers: { accept: 'text/event-stream' } })).status).toBe(503)
  })

  it('is followed by a bounded number of clients', async () => {
    const sources = await Promise.all(Array.from({ length: 20 }, () => EventSource.open(server.logsUrl(id))))
    const refusedOne = await fetch(server.logsUrl(id), { headers: { accept: 'text/event-stream' } })
    expect([refusedOne.status, ((await refusedOne.json()) as { code: string }).code]).toEqual([
      429,
      'RATE_LIMITED',
    ])
    for (const source of sources) source.cut()
    await until(() => server.active === 0)
    const source = await EventSource.open(server.logsUrl(id))
    expect(source.response.statusCode).toBe(200)
  })

  it('does not grow for a client that is slow', async () => {
    const source = await EventSource.open(server.logsUrl(id))
    await source.until(() => source.events.length > 0)
    source.response.pause()
    const lines = Array.from({ length: 20_000 }, (_, index) => `${index} ${'z'.repeat(1000)}`)
    for (let at = 0; at < lines.length; at += 500) {
      writer.append(lines.slice(at, at + 500))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await until(() => timers.waiting.includes(60_000))
    server.status = 'success'
    await writer.seal()
    source.response.resume()
    await source.ended()
    expect(source.lines.map(({ line }) => line)).toEqual(lines)
    expect(source.end).toMatchObject({ lines: 20_000 })
  })
})
