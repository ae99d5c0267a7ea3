import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RunnerFixture, until } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

const SERVING = `import { createTransport, serve, type RunnerArguments } from '@botcli/bot'

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, { websocket: () => ({}) })
  if (args.body.serves !== false) serve(args, async (request) => {
    const { pathname, search } = new URL(request.url)
    if (pathname === '/fail') throw new TypeError('no such thing')
    if (pathname === '/gone') return new Response(null, { status: 204 })
    if (pathname === '/large') return new Response('x'.repeat(512 * 1024))
    if (pathname === '/say') {
      transport.sendMessage({ said: await request.text() })
      return new Response('said')
    }
    const headers = { 'set-cookie': 'a=b', 'access-control-allow-origin': 'https://evil.example', 'x-own': 'yes' }
    const { method } = request
    const asked = { method, pathname, search, body: await request.text(), headers: Object.fromEntries(request.headers) }
    return Response.json(asked, { status: 418, headers })
  })
  await new Promise((resolve) => transport.on('ended', resolve))
}
`

let fixture: RunnerFixture
beforeAll(async () => {
  fixture = await RunnerFixture.start(SERVING, { warm: 2 })
})
afterAll(() => fixture.close())

async function call(body: object = {}) {
  const { sessionId = '', wsUrl } = await fixture.start({ transport: 'websocket', body })
  const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
  const ask = (path: string, init?: RequestInit) => fixture.request(`/sessions/${sessionId}${path}`, init)
  return { sessionId, client, ask }
}

async function codeOf(response: Response): Promise<unknown> {
  return [response.status, ((await response.json()) as { code: string }).code]
}

describe('requests below a session', () => {
  it('are answered by its bot, with what was asked and without what is not its business', async () => {
    const { ask, client } = await call()
    const response = await ask('/some/%C3%A9?q=1', {
      method: 'PUT',
      body: 'words',
      headers: { authorization: 'Bearer secret', cookie: 'a=b', 'x-mine': 'kept' },
    })
    expect(response.status).toBe(418)
    expect(response.headers.get('x-own')).toBe('yes')
    expect(response.headers.get('set-cookie')).toBeNull()
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    // Pages elsewhere can read what else the bot says.
    expect(response.headers.get('access-control-expose-headers')).toBe('*')
    const asked = (await response.json()) as { headers: Record<string, string> }
    expect(asked).toMatchObject({ method: 'PUT', pathname: '/some/%C3%A9', search: '?q=1', body: 'words' })
    expect(asked.headers['x-mine']).toBe('kept')
    expect(Object.keys(asked.headers)).not.toEqual(expect.arrayContaining(['authorization']))
    expect(Object.keys(asked.headers)).not.toEqual(expect.arrayContaining(['cookie']))
    for (const path of ['/', '//', '/api', '/wsx']) expect((await ask(path)).status).toBe(418)
    client.close()
  })

  it('are not passed on with what is of one connection, or with methods that no bot can be asked with', async () => {
    const { sessionId, client } = await call()
    const raw = (method: string) =>
      new Promise<{ status: number; text: string }>((resolve, reject) => {
        const path = `/sessions/${sessionId}/raw`
        const headers = { connection: 'close, X-Hop', 'x-hop': '1', 'x-mine': '2' }
        const asked = request(new URL(path, fixture.url), { method, headers }, async (answer) => {
          let text = ''
          for await (const chunk of answer) text += chunk
          resolve({ status: answer.statusCode ?? 0, text })
        })
        asked.on('error', reject).end()
      })
    const { headers } = JSON.parse((await raw('GET')).text)
    expect(headers).toEqual({ 'x-mine': '2' })
    const traced = await raw('TRACE')
    expect([traced.status, JSON.parse(traced.text).code]).toEqual([405, 'method_not_allowed'])
    expect((await raw('PROPFIND')).status).toBe(418)
    client.close()
  })

  it('reach the very call that they are about', async () => {
    const { ask, client } = await call()
    expect(await (await ask('/say', { method: 'POST', body: 'hello' })).text()).toBe('said')
    await until(
      () => client.messages.some((message) => JSON.stringify(message).includes('"said":"hello"')),
      'the word',
    )
    client.close()
  })

  it('have answers without a body, for HEAD, and of the largest size', async () => {
    const { ask, client } = await call()
    const gone = await ask('/gone', { method: 'DELETE' })
    expect([gone.status, await gone.text()]).toEqual([204, ''])
    const head = await ask('/large', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await (await ask('/large')).text()).length).toBe(512 * 1024)
    const body = 'x'.repeat(512 * 1024)
    const echoed = (await (await ask('/fail-not', { method: 'POST', body: 'y'.repeat(200_000) })).json()) as {
      body: string
    }
    expect(echoed.body).toHaveLength(200_000)
    expect(await codeOf(await ask('/x', { method: 'POST', body: `${body}x` }))).toEqual([
      413,
      'body_too_large',
    ])
    client.close()
  })

  it('fail without harm to the call, and the log says where', async () => {
    const { ask, client, sessionId } = await call()
    const response = await ask('/fail')
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({
      code: 'bot_failed',
      error: 'The bot failed to answer: TypeError: no such thing',
    })
    await until(() => fixture.log.find('GET /fail failed'), 'the log to say so')
    expect((await ask('/')).status).toBe(418)
    client.close()
    expect((await fixture.ended(sessionId)).outcome).toMatchObject({ cause: 'client_left' })
    expect(await codeOf(await ask('/'))).toEqual([404, 'session_not_found'])
  })

  it('wait for a bot that serves them soon, and are 404 if it does not', async () => {
    const { ask, client } = await call({ serves: false })
    expect(await codeOf(await ask('/'))).toEqual([404, 'not_found'])
    expect(await codeOf(await ask('/later'))).toEqual([404, 'not_found'])
    client.close()
  })

  it('are refused before there is a bot, and for sessions that are not known', async () => {
    const { sessionId } = await fixture.start({ transport: 'websocket' })
    expect(await codeOf(await fixture.request(`/sessions/${sessionId}/a`))).toEqual([409, 'bot_not_started'])
    expect(await codeOf(await fixture.request('/sessions/nobody/a'))).toEqual([404, 'session_not_found'])
    await fixture.request(`/sessions/${sessionId}`, { method: 'DELETE' })
  })

  it('do not take the place of routes of the runner', async () => {
    const { ask, client } = await call()
    expect((await ask('/api/offer', { method: 'PUT' })).status).toBe(405)
    expect((await ask('/ws')).status).toBe(426)
    client.close()
  })
})
