import { once } from 'node:events'
import { request as rawRequest } from 'node:http'
import { connect } from 'node:net'
import { TRANSPORT_IDS } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ECHO, RunnerFixture } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

async function expectError(response: Response, status: number, code: string): Promise<string> {
  expect(response.status).toBe(status)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  const body = (await response.json()) as Record<string, unknown>
  expect(body).toEqual({ error: expect.any(String), code, info: body.error })
  return String(body.error)
}

describe('the routes', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO)
  })
  afterAll(() => runner.close())

  it('tells its status and all transports', async () => {
    const response = await runner.request('/status')
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ status: 'ready', transports: TRANSPORT_IDS })
  })

  it('leads from / to the page', async () => {
    const response = await runner.request('/')
    expect(response.status).toBe(307)
    expect(response.headers.get('location')).toBe('/client/')
  })

  it('starts a webrtc session by default, without ICE servers', async () => {
    const response = await runner.post('/start', {})
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({ sessionId: expect.stringMatching(/^[\w-]{36}$/) })
  })

  it('takes an empty body for no wishes', async () => {
    expect((await runner.request('/start', { method: 'POST' })).status).toBe(200)
  })

  it('adds one public STUN server when asked, and nothing else', async () => {
    const { iceConfig } = (await (
      await runner.post('/start', { transport: 'webrtc', enableDefaultIceServers: true })
    ).json()) as { iceConfig: unknown }
    expect(iceConfig).toEqual({ iceServers: [{ urls: ['stun:stun.l.google.com:19302'] }] })
  })

  it('gives plain clients an address and a session', async () => {
    const host = new URL(runner.url).host
    const answer = await runner.start({ transport: 'websocket' })
    expect(answer).toEqual({ wsUrl: `ws://${host}/ws-client`, sessionId: expect.any(String) })
  })

  it.each(['telephony_a', 'telephony_b', 'telephony_c', 'telephony_d'])('gives %s an address', async (id) => {
    const { host } = new URL(runner.url)
    expect(await runner.start({ transport: id })).toEqual({ wsUrl: `ws://${host}/ws` })
  })

  it('builds addresses from what the client can reach', async () => {
    const forwarded = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'bots.example.com' }
    const answer = (await (await runner.post('/start', { transport: 'websocket' }, forwarded)).json()) as {
      wsUrl: string
    }
    expect(answer.wsUrl).toBe('wss://bots.example.com/ws-client')
  })

  it.each([
    ['malformed JSON', '{"transport":'],
    ['an array', '[]'],
    ['an unknown transport', '{"transport":"carrier-pigeon"}'],
    ['a wrong type', '{"body":"text"}'],
    ['a number for a boolean', '{"enableDefaultIceServers":1}'],
  ])('refuses %s with 422 and logs it', async (_, body) => {
    await expectError(await runner.post('/start', body), 422, 'invalid_request')
    const line = runner.log.lines.findLast((entry) => entry.msg.includes('not valid'))
    expect(line).toMatchObject({ path: '/start', body, problems: [expect.any(String)] })
  })

  it('names what is allowed for an unknown transport', async () => {
    const message = await expectError(await runner.post('/start', { transport: 'x' }), 422, 'invalid_request')
    for (const id of TRANSPORT_IDS) expect(message).toContain(id)
  })

  it('logs the first 5000 characters of a bad body, and no secret in it', async () => {
    await runner.post(
      '/start',
      JSON.stringify({ transport: 'x', token: 'abcdefghijklmnop', long: 'y'.repeat(9000) }),
    )
    const line = runner.log.lines.findLast((entry) => entry.msg.includes('not valid'))
    expect(String(line?.body).length).toBeLessThanOrEqual(5100)
    expect(String(line?.body)).not.toContain('abcdefghijklmnop')
  })

  it('logs no phone number, no SDP and no secret of a bad body, wherever the cut is', async () => {
    const body = {
      From: '(415) 555-2671',
      phone: 14155552671,
      mobile: '415-555-2671',
      caller_id: '0041 79 123 45 67',
    }
    const sdp = 'a=ice-pwd:PwdPwdPwdPwd\\u000d\\u000ac=IN IP4 203.0.113.7'
    const long = `{"transport":"x","fill":"${'y'.repeat(4960)}","apiKey":"SECRETSECRETSECRETSECRET"}`
    const bodies = [
      JSON.stringify({ transport: 'x', body }),
      'From=14155552671&To=%2B14155552671',
      `{"transport":"x","body":{"offer":"${sdp}"}}`,
      long,
    ]
    for (const text of bodies) await runner.post('/start', text)
    const lines = runner.log.lines.filter((entry) => entry.msg.includes('not valid')).slice(-bodies.length)
    expect(JSON.stringify(lines)).not.toMatch(/555-?2671|41555526|123 45|PwdPwd|203\.0|SECRET/)
    expect(lines.at(-1)?.body).toHaveLength(5000)
  })

  it('logs of a refused WebSocket the path alone', async () => {
    await WebsocketClient.refusal(`${runner.url.replace('http', 'ws')}/elsewhere?%74oken=SECRET&x=SECRET`)
    const line = runner.log.lines.findLast((entry) => entry.msg.includes('WebSocket was refused'))
    expect(line).toMatchObject({ path: '/elsewhere' })
    expect(JSON.stringify(line)).not.toContain('SECRET')
  })

  it('refuses a body over 1 MiB with 413, announced or not', async () => {
    const large = JSON.stringify({ body: { text: 'x'.repeat(1024 * 1024) } })
    await expectError(await runner.post('/start', large), 413, 'body_too_large')
    const status = await new Promise((resolve, reject) => {
      const request = rawRequest(`${runner.url}/start`, { method: 'POST' }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
      request.on('error', reject)
      for (let sent = 0; sent < 40; sent += 1) request.write('x'.repeat(64 * 1024))
      request.end()
    })
    expect(status).toBe(413)
  })

  it('answers 404 for what is not there and 405 for another method', async () => {
    await expectError(await runner.request('/nowhere'), 404, 'not_found')
    await expectError(await runner.request('/client/nothing.js'), 404, 'not_found')
    const response = await runner.request('/start')
    expect(response.headers.get('allow')).toBe('POST')
    await expectError(response, 405, 'method_not_allowed')
  })

  it('answers unknown sessions with 404, whatever is asked of them', async () => {
    await expectError(await runner.request('/sessions/nope'), 404, 'session_not_found')
    await expectError(await runner.request('/sessions/nope', { method: 'DELETE' }), 404, 'session_not_found')
    const offer = { sdp: 'v=0', type: 'offer' }
    await expectError(await runner.post('/sessions/nope/api/offer', offer), 404, 'session_not_found')
  })

  it.each([
    ['no SDP at all', ''],
    ['text that is none', 'hello'],
    ['SDP without media', 'v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n'],
  ])('refuses an offer with %s by 400 and starts no bot', async (_, sdp) => {
    const before = runner.runner.sessions
    await expectError(await runner.post('/api/offer', { sdp, type: 'offer' }), 400, 'invalid_offer')
    expect(runner.runner.sessions).toBe(before)
    expect(runner.log.find('bot started')).toBeUndefined()
  })

  it('leaves a session usable after a bad offer', async () => {
    const { sessionId } = await runner.start()
    const bad = await runner.post(`/sessions/${sessionId}/api/offer`, { sdp: 'x', type: 'offer' })
    await expectError(bad, 400, 'invalid_offer')
    expect((await runner.session(sessionId ?? '')).state).toBe('waiting')
  })

  it('refuses an offer that is no offer, and candidates for a peer that is not known', async () => {
    await expectError(await runner.post('/api/offer', { sdp: 'x', type: 'answer' }), 422, 'invalid_request')
    const patch = { method: 'PATCH', body: JSON.stringify({ pc_id: 'x', candidates: [] }) }
    await expectError(await runner.request('/api/offer', patch), 404, 'peer_not_found')
    const restart = { sdp: 'v=0', type: 'offer', pc_id: 'x', restart_pc: true }
    await expectError(await runner.post('/api/offer', restart), 404, 'peer_not_found')
  })

  it('lists sessions and stops one that waits', async () => {
    const { sessionId = '' } = await runner.start({ transport: 'websocket' })
    const { sessions } = (await (await runner.request('/sessions')).json()) as {
      sessions: { sessionId: string }[]
    }
    expect(sessions.map((session) => session.sessionId)).toContain(sessionId)
    const stopped = await runner.request(`/sessions/${sessionId}`, { method: 'DELETE' })
    expect(await stopped.json()).toMatchObject({
      state: 'ended',
      outcome: { result: 'ok', cause: 'stopped', message: expect.any(String) },
    })
    const url = `${runner.url.replace('http', 'ws')}/ws-client?sessionId=${sessionId}`
    expect(await WebsocketClient.refusal(url)).toMatchObject({
      status: 404,
      body: { code: 'session_not_found' },
    })
  })

  it('asks for an upgrade where only WebSocket is spoken', async () => {
    await expectError(await runner.request('/ws-client'), 426, 'upgrade_required')
  })

  it('refuses WebSockets elsewhere', async () => {
    const base = runner.url.replace('http', 'ws')
    const refusal = await WebsocketClient.refusal(`${base}/elsewhere`)
    expect(refusal).toMatchObject({ status: 404, body: { code: 'not_found', error: expect.any(String) } })
    expect(refusal.headers['access-control-allow-origin']).toBe('*')
  })

  it('answers a preflight of any page', async () => {
    const response = await runner.request('/start', {
      method: 'OPTIONS',
      headers: { Origin: 'https://a.example', 'Access-Control-Request-Headers': 'x-mine' },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-headers')).toBe('x-mine')
    expect(response.headers.get('access-control-allow-methods')).toContain('PATCH')
  })

  it.each([
    ['GET', '/status', ''],
    ['POST', '/start', '{"transport":"websocket"}'],
  ])('serves %s %s of a client that would rather speak HTTP/2', async (method, path, body) => {
    const headers = { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c', 'HTTP2-Settings': 'AAMAAABk' }
    const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
      const request = rawRequest(`${runner.url}${path}`, { method, headers }, async (response) => {
        const chunks: Buffer[] = []
        for await (const chunk of response) chunks.push(chunk as Buffer)
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() })
      })
      request.on('error', reject)
      request.end(body)
    })
    expect(status).toBe(200)
    expect(text).toMatch(/ready|wsUrl/)
  })

  it.each(['h2c', 'websocket'])(
    'lets go of one that asks for %s before it has its answer',
    async (protocol) => {
      const { hostname, port } = new URL(runner.url)
      const socket = connect(Number(port), hostname)
      const closed = once(socket, 'close')
      socket.on('error', () => {}).resume()
      const lines = (...more: readonly string[]) =>
        ['GET /status HTTP/1.1', 'Host: x', ...more, '', ''].join('\r\n')
      socket.write(lines() + lines('Connection: Upgrade', `Upgrade: ${protocol}`))
      const again = setInterval(() => socket.write(lines()), 20)
      await closed
      clearInterval(again)
      expect((await fetch(`${runner.url}/status`)).status).toBe(200)
    },
  )

  it('answers bytes that are not HTTP in the same form', async () => {
    const { hostname, port } = new URL(runner.url)
    const answer = await new Promise<string>((resolve) => {
      const socket = connect(Number(port), hostname)
      let text = ''
      socket.on('data', (chunk) => {
        text += chunk.toString()
      })
      socket.on('close', () => resolve(text))
      socket.write('\u0016\u0003\u0001 hello\r\n\r\n')
    })
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('"code":"invalid_request"')
  })
})

describe('a runner for one transport', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO, { transport: 'websocket', proxy: 'bots.example.com:8443' })
  })
  afterAll(() => runner.close())

  it('tells so, makes it the default, and refuses the others', async () => {
    expect(await (await runner.request('/status')).json()).toMatchObject({ transports: ['websocket'] })
    const { wsUrl } = await runner.start()
    expect(wsUrl).toBe('wss://bots.example.com:8443/ws-client')
    await expectError(await runner.post('/start', { transport: 'webrtc' }), 400, 'transport_not_enabled')
    const offer = { sdp: 'v=0', type: 'offer' }
    await expectError(await runner.post('/api/offer', offer), 400, 'transport_not_enabled')
    const patch = { method: 'PATCH', body: JSON.stringify({ pc_id: 'x', candidates: [] }) }
    await expectError(await runner.request('/api/offer', patch), 400, 'transport_not_enabled')
  })
})

describe('a runner that is full', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO, { maxSessions: 1 })
  })
  afterAll(() => runner.close())

  it('answers 429 with Retry-After until there is room', async () => {
    const { sessionId = '' } = await runner.start()
    const refused = await runner.post('/start', {})
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused.headers.get('access-control-expose-headers')).toBe('Retry-After')
    await expectError(refused, 429, 'too_many_sessions')
    const url = `${runner.url.replace('http', 'ws')}/ws-client`
    const refusal = await WebsocketClient.refusal(url)
    expect(refusal).toMatchObject({ status: 429, body: { code: 'too_many_sessions' } })
    expect(refusal.headers['retry-after']).toBeDefined()
    await runner.request(`/sessions/${sessionId}`, { method: 'DELETE' })
    expect((await runner.post('/start', {})).status).toBe(200)
  })
})
