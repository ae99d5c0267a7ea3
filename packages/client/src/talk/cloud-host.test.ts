import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { KeyShelf } from '../cloud/state/key-shelf.ts'
import { TalkError } from '../state/problem.ts'
import { TalkDoor } from '../state/talk-door.ts'
import { TestStorage } from '../testing/test-storage.ts'
import { CloudHost } from './cloud-host.ts'

interface Heard {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly key: string | undefined
  readonly body: string
}

const servers: Server[] = []

afterEach(() => {
  for (const server of servers.splice(0)) server.close()
  vi.unstubAllGlobals()
})

async function cloud(status: number, answer: unknown, headers: Readonly<Record<string, string>> = {}) {
  const heard: Heard[] = []
  const refused: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    heard.push({ method: request.method, url: request.url, key: request.headers.authorization, body })
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close', ...headers })
    response.end(JSON.stringify(answer))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const host = new CloudHost({
    origin,
    fetch,
    agent: 'my-bot',
    key: 'pk_x',
    refused: (words) => refused.push(words),
  })
  return { origin, host, heard, refused }
}

const WEBRTC = { transport: 'webrtc', enableDefaultIceServers: false } as const
const WEBSOCKET = { transport: 'websocket', enableDefaultIceServers: false } as const

test('a session is started with the public key, and its offers carry it too', async () => {
  const iceServers = [{ urls: ['stun:stun.example.org'] }]
  const { origin, host, heard } = await cloud(200, { sessionId: 's1', iceConfig: { iceServers } })
  expect(await host.start(WEBRTC)).toEqual({ sessionId: 's1', iceServers })
  expect(heard).toEqual([
    { method: 'POST', url: '/v1/public/my-bot/start', key: 'Bearer pk_x', body: JSON.stringify(WEBRTC) },
  ])
  expect(host.offerPlace('s1')).toEqual({
    url: `${origin}/v1/public/my-bot/sessions/s1/api/offer`,
    headers: { authorization: 'Bearer pk_x' },
  })
  expect(host.sessionPage('s1')).toBe('/#/agents/my-bot/sessions/s1')
})

test('a WebSocket goes by the address that the page came from, and needs no key', async () => {
  const wsUrl = 'wss://public.example.org/v1/public/my-bot/sessions/s1/token/ws-client?x=1'
  const { origin, host } = await cloud(200, { sessionId: 's1', wsUrl })
  expect((await host.start(WEBSOCKET)).wsUrl).toBe(
    `${origin.replace('http', 'ws')}/v1/public/my-bot/sessions/s1/token/ws-client?x=1`,
  )
})

test('one that has failed for good is told without a command, and nobody is sent to try again', async () => {
  const { host } = await cloud(409, { error: 'See: botcli agent get my-bot', code: 'DEPLOY-NOT-READY' })
  await expect(host.start(WEBRTC)).rejects.toThrow(
    'This agent takes no conversations now. It could not be started. Whoever runs it can see why on its page of the cloud.',
  )
})

test.each([
  [429, 'DEPLOY-AT-CAPACITY', 'All places are taken. It has all 10. Try again in 7 seconds.'],
  [409, 'DEPLOY-NOT-READY', 'This agent takes no conversations now. It has all 10. Try again in 7 seconds.'],
  [502, 'DEPLOY-START-FAILED', 'The bot could not be started. It has all 10. Try again in 7 seconds.'],
  [
    404,
    'NOT_FOUND',
    'There is no agent my-bot. It may have been deleted, or the name in the address is wrong.',
  ],
  [418, 'ODD', 'It has all 10. Try again in 7 seconds.'],
])('status %d with %s is told in words', async (status, code, words) => {
  const { host, refused } = await cloud(status, { error: 'It has all 10.', code }, { 'retry-after': '7' })
  const error = await host.start(WEBRTC).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(TalkError)
  expect(String((error as TalkError).message)).toBe(words)
  expect(refused).toEqual([])
})

test.each([
  [401, 'UNAUTHORIZED'],
  [403, 'FORBIDDEN'],
])('a key that is refused with %d is told of', async (status, code) => {
  const { host, refused } = await cloud(status, { error: 'Not with this key.', code })
  await expect(host.start(WEBRTC)).rejects.toThrow('Not with this key.')
  expect(refused).toEqual(['Not with this key.'])
})

test('an answer without what is needed, and no answer at all, have words', async () => {
  const { host } = await cloud(200, { sessionId: 's1' })
  await expect(host.start(WEBSOCKET)).rejects.toThrow('wsUrl')
  const nobody = new CloudHost({
    ...{ origin: 'http://127.0.0.1:9', agent: 'x', key: 'pk_x', refused: () => {} },
    fetch: () => Promise.reject(new TypeError('fetch failed')),
  })
  await expect(nobody.start(WEBRTC)).rejects.toThrow('The cloud does not answer.')
  expect(await nobody.ending('s1')).toBeUndefined()
})

test.each([
  [404, true],
  [405, false],
  [502, false],
])('a session whose requests are answered with %d is over: %s', async (status, over) => {
  const { host, heard } = await cloud(status, { error: 'x', code: 'x' })
  expect(await host.ending('s1')).toEqual(
    over ? { failed: false, problem: expect.objectContaining({ tone: 'info' }) } : undefined,
  )
  expect(heard[0]).toMatchObject({ method: 'GET', url: '/v1/public/my-bot/sessions/s1/api/offer' })
})

function doorAt(search: string, hash = '', kept?: string) {
  vi.stubGlobal('navigator', {})
  const short = new TestStorage()
  const long = new TestStorage()
  const shelf = new KeyShelf(short, long)
  if (kept !== undefined) shelf.keepPublic(kept)
  const door = new TalkDoor({ origin: 'http://cloud', fetch, shelf, search, hash })
  return { door, shelf, short, long }
}

test('the page takes the key of its address, then the one that is kept', () => {
  expect(doorAt('?agent=my-bot', '#key=pk_new', 'pk_old').shelf.readPublic()).toBe('pk_new')
  const { door } = doorAt('?agent=my-bot', '', 'pk_old')
  expect(door.page.value?.host.bot).toBe('my-bot')
})

test('without a key the page asks for one, and takes no private one', () => {
  const { door, short } = doorAt('?agent=my-bot')
  expect(door.page.value).toBeUndefined()
  for (const [key, words] of [
    ['', 'Enter a public key.'],
    ['sk_secret', 'This is a private key'],
    ['pk_with space', 'not a key'],
  ] as const) {
    door.enter(key)
    expect(door.notice.value).toContain(words)
  }
  expect(short.length).toBe(0)
  door.enter(' pk_good ')
  expect([door.notice.value, door.page.value?.host.bot]).toEqual([undefined, 'my-bot'])
})

test('a private key in the address opens nothing', () => {
  const { door, shelf } = doorAt('?agent=my-bot', '#key=sk_secret')
  expect([door.page.value, shelf.readPublic()]).toEqual([undefined, undefined])
  expect(door.notice.value).toContain('private key')
})

test('without an agent there is nobody to talk to', () => {
  expect(doorAt('', '#key=pk_x').door).toMatchObject({ agent: '' })
  expect(doorAt('', '#key=pk_x').door.page.value).toBeUndefined()
})

test('signing out in another tab ends it here, and leaves no key behind', () => {
  const { door, shelf, short } = doorAt('?agent=my-bot', '#key=pk_x')
  shelf.keep('sk_copy', { long: false })
  shelf.keepPublic('pk_x')
  door.hear({ key: 'something else', newValue: 'x' })
  expect(door.page.value).toBeDefined()
  door.hear({ key: 'botcli-cloud-sign-out', newValue: 'yes' })
  expect([door.page.value, short.length]).toEqual([undefined, 0])
  expect(door.notice.value).toContain('signed out')
})
