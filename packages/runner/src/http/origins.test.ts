import { request as rawRequest } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ECHO, RunnerFixture } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

const LISTED = 'https://app.example'

describe('a runner with allowed origins', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO, {
      allowedOrigins: [LISTED],
      pageDir: `${import.meta.dirname}/../testing/page`,
    })
  })
  afterAll(() => runner.close())

  /** `fetch` sets some of these headers itself, so this speaks HTTP more plainly. */
  function send(method: string, path: string, headers: Record<string, string>) {
    return new Promise<{ status: number; text: string; headers: Record<string, unknown> }>(
      (resolve, reject) => {
        const request = rawRequest(`${runner.url}${path}`, { method, headers }, async (response) => {
          const chunks: Buffer[] = []
          for await (const chunk of response) chunks.push(chunk as Buffer)
          const text = Buffer.concat(chunks).toString()
          resolve({ status: response.statusCode ?? 0, text, headers: response.headers })
        })
        request.on('error', reject)
        request.end()
      },
    )
  }

  it.each([
    ['a missing origin', {}],
    ['a foreign origin', { Origin: 'https://evil.example' }],
    ['the listed origin with another port', { Origin: `${LISTED}:8443` }],
    ['a sandboxed page', { Origin: 'null' }],
  ])('refuses %s on every route with 403 and does nothing', async (_, headers) => {
    const before = runner.runner.sessions
    const requests = [
      ['GET', '/status'],
      ['POST', '/start'],
      ['POST', '/api/offer'],
      ['PATCH', '/api/offer'],
      ['GET', '/sessions'],
      ['DELETE', '/sessions/x'],
      ['OPTIONS', '/start'],
      ['GET', '/client/'],
      ['GET', '/nowhere'],
    ] as const
    for (const [method, path] of requests) {
      const { status, text } = await send(method, path, headers)
      expect([method, path, status]).toEqual([method, path, 403])
      expect(JSON.parse(text)).toMatchObject({ code: 'origin_not_allowed', error: expect.any(String) })
    }
    expect(runner.runner.sessions).toBe(before)
  })

  it('refuses WebSockets of other origins before it looks at them', async () => {
    const url = `${runner.url.replace('http', 'ws')}/ws-client`
    expect(await WebsocketClient.refusal(url)).toMatchObject({ status: 403 })
    const foreign = await WebsocketClient.refusal(url, { Origin: 'https://evil.example' })
    expect(foreign).toMatchObject({ status: 403, body: { code: 'origin_not_allowed' } })
    const navigating = { Origin: 'https://evil.example', 'Sec-Fetch-Mode': 'navigate' }
    expect(
      await WebsocketClient.refusal(`${url.replace('/ws-client', '/client/')}`, navigating),
    ).toMatchObject({
      status: 403,
    })
    expect(runner.runner.sessions).toBe(0)
  })

  it('serves a listed origin', async () => {
    const { status, headers } = await send('GET', '/status', { Origin: LISTED })
    expect(status).toBe(200)
    expect(headers['access-control-allow-origin']).toBe(LISTED)
    const url = `${runner.url.replace('http', 'ws')}/ws-client`
    const client = await WebsocketClient.connect(url, { Origin: LISTED })
    client.close()
  })

  it('lets a browser open the page, and the page load its parts', async () => {
    const page = await send('GET', '/client/', { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Site': 'none' })
    expect(page.status).toBe(200)
    expect(page.text).toContain('"originAllowed":false')
    expect((await send('GET', '/', { 'Sec-Fetch-Mode': 'navigate' })).status).toBe(307)
    const part = { 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Site': 'same-origin' }
    expect((await send('GET', '/client/part.js', part)).status).toBe(200)
    expect((await send('GET', '/status', part)).status).toBe(403)
    expect((await send('GET', '/client/part.js', { ...part, 'Sec-Fetch-Site': 'cross-site' })).status).toBe(
      403,
    )
    expect((await send('POST', '/client/', { 'Sec-Fetch-Mode': 'navigate' })).status).toBe(403)
  })

  it.each([
    { Host: 'app.example', 'X-Forwarded-Proto': 'https' },
    { Host: 'app.example', 'X-Forwarded-Proto': 'https, http' },
    { Forwarded: 'for=192.0.2.1;proto=https;host=app.example, for=10.0.0.1' },
    { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'App.Example:443, inner' },
  ])('tells the page when its own origin is listed: %j', async (headers) => {
    const page = await send('GET', '/client/', { 'Sec-Fetch-Mode': 'navigate', ...headers })
    expect(page.text).toContain('"originAllowed":true')
  })
})
