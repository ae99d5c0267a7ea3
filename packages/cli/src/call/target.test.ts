import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { CarrierId } from '@botcli/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { readTarget, startSession } from './target.ts'

const { signal } = new AbortController()

describe('a URL', () => {
  it.each([
    [[], 'ws://localhost:7860/ws', 'http://localhost:7860/start'],
    [['http://localhost:80'], 'ws://localhost/ws', 'http://localhost/start'],
    [['localhost:9000'], 'ws://localhost:9000/ws', 'http://localhost:9000/start'],
    [['https://bots.example.com/'], 'wss://bots.example.com/ws', 'https://bots.example.com/start'],
    [['ws://127.0.0.1:1'], 'ws://127.0.0.1:1/ws', 'http://127.0.0.1:1/start'],
    [['wss://a.example/sessions/7/ws?t=1#x'], 'wss://a.example/sessions/7/ws?t=1', 'https://a.example/start'],
    [['http://a.example/ws'], 'ws://a.example/ws', 'http://a.example/start'],
    [['http://a.example/client/'], 'ws://a.example/ws', 'http://a.example/start'],
  ])('%j', (positionals, wsUrl, startUrl) => {
    const problems: string[] = []
    expect(readTarget(positionals, false, problems)).toEqual({ wsUrl, startUrl })
    expect(problems).toEqual([])
  })

  it.each(['ftp://a.example', 'http://', '::', ''])('not %j', (text) => {
    const problems: string[] = []
    expect(readTarget([text], false, problems)).toBeUndefined()
    expect(problems).toHaveLength(1)
  })

  it('has no path when the runner is asked for one', () => {
    const problems: string[] = []
    readTarget(['ws://localhost:1/ws'], true, problems)
    expect(problems).toEqual([expect.stringContaining('--body')])
  })
})

describe('asking for a session', () => {
  const wanted = (transport: CarrierId, body = {}) => ({ transport, body, origin: undefined })
  let server: Server | undefined
  afterEach(() => server?.close())

  async function answering(listener: RequestListener): Promise<string> {
    server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/start`
  }

  it('sends transport and body, and gives the address', async () => {
    let asked: unknown
    const url = await answering(async (request, response) => {
      const parts: Buffer[] = []
      for await (const part of request) parts.push(part as Buffer)
      asked = JSON.parse(Buffer.concat(parts).toString())
      response.end('{"wsUrl":"ws://x/sessions/1/ws"}')
    })
    expect(await startSession(url, wanted('telephony_b', { plan: 'gold' }), signal)).toBe(
      `${url.replace('http', 'ws').replace('/start', '')}/sessions/1/ws`,
    )
    expect(asked).toEqual({ transport: 'telephony_b', body: { plan: 'gold' } })
  })

  it.each([
    [400, '{"error":"It is not enabled."}', '(400): It is not enabled.'],
    [500, 'oh no', '(500): Internal Server Error'],
    [200, '{}', '(200)'],
    [200, '{"wsUrl":"nonsense"}', '(200)'],
    [200, '{"wsUrl":"file:///etc"}', '(200)'],
  ])('tells why it got none: %s %s', async (status, body, why) => {
    const url = await answering((_, response) => response.writeHead(status).end(body))
    await expect(startSession(url, wanted('telephony_a'), signal)).rejects.toThrow(why)
  })

  it('tells that nobody is there', async () => {
    await expect(startSession('http://127.0.0.1:9/start', wanted('telephony_a'), signal)).rejects.toThrow(
      'did not answer',
    )
  })
})
