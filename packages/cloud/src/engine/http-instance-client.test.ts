import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../testing/cloud-fixture.ts'
import { HttpInstanceClient } from './http-instance-client.ts'

const client = new HttpInstanceClient()
let folder: string
let socketPath: string
let server: Server | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'botcli-client-'))
  socketPath = join(folder, 'socket')
})

afterEach(async () => {
  server?.closeAllConnections()
  server?.close()
  server = undefined
  await rm(folder, { recursive: true, force: true })
})

async function listen(answer: RequestListener): Promise<void> {
  server = createServer(answer).listen(socketPath)
  await once(server, 'listening')
}

describe('asking an instance', () => {
  it('starts a session with its id and headers, and gives the answer as it is', async () => {
    const seen: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = []
    let body = ''
    await listen(async (request, response) => {
      seen.push(request)
      body = await text(request)
      response.writeHead(409, { 'content-type': 'application/json' }).end('{"error":"busy"}')
    })
    const answer = await client.start(
      socketPath,
      'an-id',
      { transport: 'webrtc', enableDefaultIceServers: false },
      { 'x-forwarded-for': '1.2.3.4' },
      10_000,
    )
    expect(answer).toEqual({ status: 409, body: { error: 'busy' } })
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/start',
      headers: {
        'x-botcli-session-id': 'an-id',
        'x-forwarded-for': '1.2.3.4',
        'content-type': 'application/json',
      },
    })
    expect(JSON.parse(body)).toMatchObject({ transport: 'webrtc' })
  })

  it.each([
    ['stops', 'stop', 'DELETE'],
    ['looks at', 'session', 'GET'],
  ] as const)('%s a session, or tells that it is not known', async (_does, act, method) => {
    const known = { sessionId: 'known', state: 'ended', createdAt: '2026-01-01T00:00:00.000Z' }
    const bodies = new Map<string | undefined, object>([
      ['/sessions/known', known],
      ['/sessions/other', known],
      ['/sessions/odd', { ...known, sessionId: 'odd', outcome: 'fine' }],
    ])
    await listen((request, response) => {
      const body = request.method === method ? bodies.get(request.url) : undefined
      response.writeHead(body ? 200 : 404).end(JSON.stringify(body ?? {}))
    })
    expect(await client[act](socketPath, 'known')).toEqual(known)
    expect(await client[act](socketPath, '../instance')).toBeUndefined()
    await expect(client[act](socketPath, 'other')).rejects.toThrow('something else')
    await expect(client[act](socketPath, 'odd')).rejects.toThrow('something else')
  })

  it('fails when nobody is there, or it breaks off, or the answer makes no sense', async () => {
    await expect(client.info(socketPath)).rejects.toThrow('ENOENT')
    const answers = ['not JSON', `"${'x'.repeat(2 * 1024 * 1024)}"`]
    await listen((_request, response) => {
      const next = answers.shift()
      if (next === undefined) response.destroy()
      else response.end(next)
    })
    await expect(client.info(socketPath)).rejects.toThrow('no JSON')
    await expect(client.info(socketPath)).rejects.toThrow('too long')
    await expect(client.info(socketPath)).rejects.toThrow(/hang up|reset/)
  })
})

describe('watching an instance', () => {
  it('tells every beat until the instance is gone', async () => {
    const streams: { write(text: string): void; destroy(): void }[] = []
    await listen((_request, response) => {
      streams.push(response)
      response.write('{}\n')
    })
    let beats = 0
    const watched = client.watch(socketPath, () => (beats += 1), new AbortController().signal)
    await until(() => beats === 1, 'the first beat')
    streams[0]?.write('{}\n')
    await until(() => beats === 2, 'the second beat')
    streams[0]?.destroy()
    await watched
  })

  it('ends when it is told to, and when nobody is there', async () => {
    let closed = 0
    await listen((_request, response) => {
      response.write('{}\n')
      response.on('close', () => (closed += 1))
    })
    const ending = new AbortController()
    await client.watch(socketPath, () => ending.abort(), ending.signal)
    await until(() => closed === 1, 'the stream to be closed')
    await client.watch(socketPath, () => undefined, ending.signal)
    await client.watch(join(folder, 'nothing'), () => undefined, new AbortController().signal)
  })
})
