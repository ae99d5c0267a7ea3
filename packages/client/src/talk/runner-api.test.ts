import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { errorBody } from '@botcli/protocol'
import { afterEach, expect, test } from 'vitest'
import { isNearby, RunnerApi } from './runner-api.ts'
import { runnerFacts } from './runner-facts.ts'

interface Heard {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly body: string
}

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
})

async function runner(status: number, answer: unknown): Promise<{ origin: string; heard: Heard[] }> {
  const heard: Heard[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    heard.push({ method: request.method, url: request.url, body })
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' })
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, heard }
}

const WEBRTC = { transport: 'webrtc', enableDefaultIceServers: false } as const
const WEBSOCKET = { transport: 'websocket', enableDefaultIceServers: false } as const

test('the transports are read from the status', async () => {
  const { origin } = await runner(200, { status: 'ready', transports: ['webrtc', 7, 'room'] })
  expect(await new RunnerApi(origin, fetch).transports()).toEqual(['webrtc', 'room'])
})

test('what the document says about the runner is not asked again', async () => {
  const { origin, heard } = await runner(500, {})
  const text = '{"transports":["websocket",7],"originAllowed":true}'
  const facts = runnerFacts({ getElementById: () => ({ textContent: text }) as HTMLElement })
  expect(await new RunnerApi(origin, fetch, facts).transports()).toEqual(['websocket'])
  expect(heard).toEqual([])
})

test('a page whose origin is not listed learns it from its document', async () => {
  const facts = { transports: ['webrtc'], originAllowed: false, ways: [] }
  const api = new RunnerApi('http://localhost:7860', fetch, facts)
  await expect(api.transports()).rejects.toThrow(
    'http://localhost:7860 is not among the runner’s allowed origins',
  )
})

test('a WebRTC session brings its id and its ice servers', async () => {
  const iceServers = [{ urls: ['stun:stun.example.org'] }]
  const { origin, heard } = await runner(200, { sessionId: 's 1', iceConfig: { iceServers } })
  const api = new RunnerApi(origin, fetch)
  expect(await api.start(WEBRTC)).toEqual({ sessionId: 's 1', iceServers })
  expect(heard[0]).toMatchObject({ method: 'POST', url: '/start' })
  expect(JSON.parse(heard[0]?.body ?? '')).toEqual(WEBRTC)
  expect(api.offerPlace('s 1').url).toBe(`${origin}/sessions/s%201/api/offer`)
})

test('a WebSocket goes where the runner says, with the session in its address', async () => {
  const { origin } = await runner(200, {
    sessionId: 'abc',
    wsUrl: 'wss://bots.example.org/ws-client?a=1',
    token: 't',
  })
  const session = await new RunnerApi(origin, fetch).start(WEBSOCKET)
  expect(session).toMatchObject({ wsUrl: 'wss://bots.example.org/ws-client?a=1&sessionId=abc', token: 't' })
})

test('an answer without what is needed says what is missing', async () => {
  const { origin } = await runner(200, { sessionId: 'abc' })
  const api = new RunnerApi(origin, fetch)
  await expect(api.start(WEBSOCKET)).rejects.toMatchObject({ code: 'strange_answer' })
  await expect(api.transports()).rejects.toThrow(/list of transports/)
})

test('a refusal carries the code and the words of the runner', async () => {
  const { origin } = await runner(429, errorBody('too_many_sessions', 'All 10 sessions are in use.'))
  await expect(new RunnerApi(origin, fetch).start(WEBRTC)).rejects.toMatchObject({
    code: 'too_many_sessions',
    problem: { title: 'All 10 sessions are in use.' },
  })
})

test('a refusal by something that does not speak JSON still gets words', async () => {
  const { origin } = await runner(502, '<html>Bad gateway</html>')
  await expect(new RunnerApi(origin, fetch).start(WEBRTC)).rejects.toThrow(/502/)
})

test('a runner that is gone does not answer', async () => {
  const { origin } = await runner(200, {})
  const server = servers.pop()
  await new Promise((resolve) => server?.close(resolve))
  await expect(new RunnerApi(origin, fetch).transports()).rejects.toMatchObject({ code: 'no_answer' })
})

test('the outcome of a session is what the runner recorded, if it can say', async () => {
  const outcome = { result: 'ok', cause: 'time_limit', message: 'An hour is over.' }
  const ended = await runner(200, { sessionId: 'a/b', state: 'ended', outcome })
  expect(await new RunnerApi(ended.origin, fetch).outcome('a/b')).toEqual(outcome)
  expect(ended.heard[0]?.url).toBe('/sessions/a%2Fb')
  const active = await runner(200, { sessionId: 'a', state: 'active' })
  expect(await new RunnerApi(active.origin, fetch).outcome('a')).toBeUndefined()
  const unknown = await runner(404, errorBody('session_not_found', 'no'))
  expect(await new RunnerApi(unknown.origin, fetch).outcome('a')).toBeUndefined()
})

test.each([
  ['localhost', true],
  ['bot.localhost', true],
  ['127.0.0.1', true],
  ['[::1]', true],
  ['192.168.1.20', true],
  ['172.16.0.9', true],
  ['my-machine.local', true],
  ['172.32.0.9', false],
  ['8.8.8.8', false],
  ['10.example.org', false],
  ['bots.example.org', false],
])('%s is nearby: %s', (host, nearby) => {
  expect(isNearby(host)).toBe(nearby)
})
