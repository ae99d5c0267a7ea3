import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { ERROR_STATUS } from '@botcli/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { BROWSER_OFFER } from '../../../media/src/testing/offers.ts'
import { childrenOf } from '../testing/processes.ts'
import { type RawAnswer, rawRequest } from '../testing/raw-http.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

const guests = () => childrenOf(process.pid, 'guest/main.js').length
const workers = () => childrenOf(process.pid, 'worker/main.js')

/** Files and sockets that a process holds. */
const descriptors = (pid: number) => readdirSync(`/proc/${pid}/fd`).length

/** Timers and sockets of this process, which is the runner's. */
function handles(): number {
  return process.getActiveResourcesInfo().filter((name) => /Timeout|TCPSocketWrap|PipeWrap/.test(name)).length
}

const text = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 20 }))
const json = fc.oneof(fc.jsonValue({ maxDepth: 4 }), fc.dictionary(text, fc.jsonValue(), { maxKeys: 5 }))
const transport = fc.oneof(fc.constantFrom('webrtc', 'websocket', 'room', 'telephony_a'), text)

/** Bodies that look like what a route wants, with any value in any place. */
const startBody = fc.record(
  {
    transport: fc.oneof(transport, json),
    enableDefaultIceServers: fc.oneof(fc.boolean(), json),
    createRoom: json,
    body: json,
    __proto__: json,
  },
  { requiredKeys: [] },
)
const offerBody = fc.record(
  {
    sdp: fc.oneof(text, json),
    type: fc.oneof(fc.constant('offer'), json),
    pc_id: fc.oneof(fc.constant(null), text, json),
    restart_pc: json,
    requestData: json,
  },
  { requiredKeys: ['sdp', 'type'] },
)
const candidatesBody = fc.record({
  pc_id: fc.oneof(text, json),
  candidates: fc.oneof(
    json,
    fc.array(fc.record({ candidate: fc.oneof(text, json), sdp_mid: json, sdp_mline_index: json })),
  ),
})
const body = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  startBody.map((value) => JSON.stringify(value)),
  offerBody.map((value) => JSON.stringify(value)),
  candidatesBody.map((value) => JSON.stringify(value)),
  text,
)

const headerText = fc
  .string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
    maxLength: 60,
  })
  .filter((value) => !value.includes('\u007f'))
const headerName = fc.constantFrom(
  'Host',
  'Origin',
  'Forwarded',
  'X-Forwarded-Proto',
  'X-Forwarded-Host',
  'X-Forwarded-Prefix',
  'Authorization',
  'Content-Type',
  'Sec-Fetch-Mode',
  'Sec-Fetch-Site',
  'Access-Control-Request-Headers',
  'Sec-WebSocket-Key',
  'Sec-WebSocket-Version',
  'Sec-WebSocket-Protocol',
  'Sec-WebSocket-Extensions',
  'Upgrade',
)
const headerValue = fc.oneof(
  headerText,
  fc.constantFrom(
    '13',
    '8',
    'websocket',
    'h2c',
    'dGhlIHNhbXBsZSBub25jZQ==',
    'https',
    'for=1;proto=https;host=x',
  ),
  fc.constantFrom('localhost', '[::1]:80', 'http://a.example', 'null', 'a, b', 'permessage-deflate; x="'),
)
const headers = fc.array(fc.tuple(headerName, headerValue), { maxLength: 8 })
const target = fc.oneof(
  fc.constantFrom('/', '/start', '/status', '/sessions', '/ws-client', '/ws', '/client/', '/api/offer'),
  fc.constantFrom('//', '/..', '/%', '/%zz', '/sessions/%E0%A4%A', '/\\', 'http://other/status', '*', 'x'),
  fc.webPath().map((path) => `/sessions${path}`),
  fc.webQueryParameters().map((query) => `/ws-client?${query}`),
)
const method = fc.constantFrom(
  'GET',
  'POST',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'PUT',
  'TRACE',
  'PROPFIND',
)

describe('a runner under fire', () => {
  let runner: RunnerFixture
  let base: { readonly handles: number; readonly workers: readonly number[]; readonly descriptors: number[] }
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO, { maxSessions: 1000 })
    await until(() => guests() === 1, 'the spare')
    // The first session of each kind loads what stays loaded.
    const client = await WebsocketClient.connect(`${runner.url.replace('http', 'ws')}/ws-client`)
    client.close()
    const { sessionId } = (await (
      await runner.post('/api/offer', { sdp: BROWSER_OFFER, type: 'offer' })
    ).json()) as Record<string, string>
    await runner.request(`/sessions/${sessionId}`, { method: 'DELETE' })
    await until(() => runner.runner.sessions === 0 && guests() === 1, 'everything to be over')
    base = { handles: handles(), workers: workers(), descriptors: workers().map(descriptors) }
  })
  afterAll(() => runner.close())

  async function endAll(): Promise<void> {
    const { sessions } = (await (await runner.request('/sessions')).json()) as {
      sessions: { sessionId: string; state: string }[]
    }
    for (const { sessionId, state } of sessions) {
      if (state !== 'ended') await runner.request(`/sessions/${sessionId}`, { method: 'DELETE' })
    }
  }

  function expectAnswer(answer: RawAnswer | undefined, isHead = false): void {
    expect(answer).toBeDefined()
    if (answer === undefined) return
    const { status, headers: given, body: answered } = answer
    expect(status).not.toBe(500)
    if (status < 400 || isHead) return
    expect(given['content-type']).toContain('application/json')
    const { error, code, info } = JSON.parse(answered) as Record<string, string>
    expect(error).toBeTruthy()
    expect(info).toBe(error)
    expect(Object.keys(ERROR_STATUS)).toContain(code)
  }

  it('answers any JSON in words that a program can read', async () => {
    const route = fc.constantFrom(
      ['POST', '/start'],
      ['POST', '/api/offer'],
      ['PATCH', '/api/offer'],
      ['POST', '/sessions/x/api/offer'],
    )
    await fc.assert(
      fc.asyncProperty(route, body, async ([verb = '', path = ''], sent) => {
        const response = await runner.request(path, { method: verb, body: sent })
        expectAnswer({
          status: response.status,
          headers: Object.fromEntries(response.headers),
          body: await response.text(),
        })
      }),
      { numRuns: 400 },
    )
    await endAll()
    expect(runner.runner.sessions).toBe(0)
  })

  it('answers any headers at any address', async () => {
    await fc.assert(
      fc.asyncProperty(method, target, headers, fc.boolean(), async (verb, path, given, upgrade) => {
        const lines = given.map(([name, value]) => `${name}: ${value}`)
        if (!given.some(([name]) => name === 'Host')) lines.push('Host: localhost')
        lines.push(upgrade ? 'Connection: Upgrade' : 'Connection: close')
        if (upgrade) lines.push('Upgrade: websocket')
        const request = `${verb} ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
        const answer = await rawRequest(runner.url, Buffer.from(request, 'latin1'))
        expectAnswer(answer, verb === 'HEAD')
      }),
      { numRuns: 400 },
    )
    await endAll()
  })

  it('answers handshakes that are almost right, before it spends a bot on them', async () => {
    const good = {
      Host: 'localhost',
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    const change = fc.dictionary(
      fc.oneof(fc.constantFrom(...Object.keys(good), 'Sec-WebSocket-Protocol'), headerName),
      headerValue,
      { minKeys: 1, maxKeys: 2 },
    )
    const started = () => runner.log.lines.filter((line) => line.msg === 'bot started').length
    const before = started()
    let accepted = 0
    await fc.assert(
      fc.asyncProperty(change, async (changes) => {
        const lines = Object.entries({ ...good, ...changes }).map(([name, value]) => `${name}: ${value}`)
        const request = `GET /ws-client HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`
        const answer = await rawRequest(runner.url, Buffer.from(request, 'latin1'))
        if (answer?.status === 101) accepted += 1
        else expectAnswer(answer)
      }),
      { numRuns: 40 },
    )
    expect(accepted).toBeGreaterThan(0)
    expect(started() - before).toBeLessThanOrEqual(accepted)
    await until(() => runner.runner.sessions === 0, 'all sessions to be over')
  })

  it('answers offers that are almost right', async () => {
    const lines = BROWSER_OFFER.split('\r\n')
    const change = fc.tuple(fc.nat(lines.length - 1), fc.oneof(fc.constant(undefined), text))
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const changed = [...lines]
        for (const [at, line] of changes) changed[at] = line === undefined ? '' : (lines[at] ?? '') + line
        const sdp = changed.filter((line) => line !== '').join('\r\n')
        const response = await runner.post('/api/offer', { sdp: `${sdp}\r\n`, type: 'offer' })
        const answer = (await response.json()) as Record<string, string>
        if (response.status === 200)
          await runner.request(`/sessions/${answer.sessionId}`, { method: 'DELETE' })
        else expect(answer.code).toBe('invalid_offer')
      }),
      { numRuns: 15 },
    )
  })

  it('refuses what is nested without end, and lists without end, in few words', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const start = await runner.post('/start', `{"transport":"websocket","body":{"deep":${deep}}}`)
    expect(start.status).toBe(422)
    expect(await start.json()).toMatchObject({ code: 'invalid_request' })
    const candidates = JSON.stringify({ pc_id: 'x', candidates: new Array(400_000).fill(0) })
    const patch = await runner.request('/api/offer', { method: 'PATCH', body: candidates })
    expect(patch.status).toBe(422)
    expect((await patch.text()).length).toBeLessThan(5000)
  })

  it('is not troubled by clients that break off', async () => {
    const head = 'POST /start HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    const { hostname, port } = new URL(runner.url)
    for (const bytes of [`${head}Content-Length: 100\r\n\r\n{"body":`, head, 'GE', '']) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      await once(socket, 'connect')
      await new Promise((resolve) => socket.write(bytes, resolve))
      socket.resetAndDestroy()
    }
    expect((await runner.request('/status')).status).toBe(200)
  })

  it('still serves afterwards, with nothing left behind', async () => {
    const client = await WebsocketClient.connect(`${runner.url.replace('http', 'ws')}/ws-client`)
    client.sendMessage('client-ready', { version: '2.2.0' })
    await client.message('bot-ready')
    client.close()
    await until(() => runner.runner.sessions === 0, 'all sessions to be over')
    await until(() => guests() === 1, 'all guests but the spare to be gone')
    expect(workers()).toEqual(base.workers)
    await until(
      () => base.workers.every((pid, index) => descriptors(pid) <= (base.descriptors[index] ?? 0)),
      `the workers to hold no more than ${base.descriptors} descriptors`,
    )
    await until(() => handles() <= base.handles + 2, `the handles to be back at ${base.handles}`)
    expect(runner.log.lines.filter((line) => line.msg === 'a request failed')).toEqual([])
  })
})
