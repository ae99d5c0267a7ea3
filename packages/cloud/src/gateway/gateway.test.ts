import { once } from 'node:events'
import { connect } from 'node:net'
import { cloudErrorBody } from '@botcli/protocol/cloud'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { GatewayHouse } from '../testing/gateway-house.ts'
import { rawRequest } from '../testing/raw-http.ts'
import { StandInInstance } from '../testing/stand-in-instance.ts'

const WEBSOCKET = [
  'Connection: Upgrade, HTTP2-Settings',
  'Upgrade: websocket',
  'HTTP2-Settings: x',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]
let house: GatewayHouse
let instance: StandInInstance
let id: string
beforeAll(async () => {
  house = await GatewayHouse.start()
  instance = await StandInInstance.start()
  id = house.session(instance.socketPath)
})
afterAll(async () => {
  await house.close()
  await instance.close()
})
beforeEach(() => {
  instance.asked.length = 0
})

const asking = (line: string, lines: readonly string[]): string =>
  [`${line} HTTP/1.1`, 'Host: x', ...lines, '', ''].join('\r\n')

describe('an upgrade of something else is served as if it had not been asked', () => {
  it.each([
    ['GET /healthz', 200],
    ['GET /nothing', 404],
    ['GET /v1/keys', 401],
    ['GET /v1/public/my-agent/start', 401],
    ['GET /v1/public/my-agent/sessions/x/ws', 401],
    ['GET /v1/public/my-agent/sessions/x/a/b/ws', 401],
    ['GET *', 400],
  ])('%s', async (line, status) => {
    const answer = await rawRequest(house.url, asking(line, WEBSOCKET))
    expect(answer?.status).toBe(status)
    if (status !== 200) expect(cloudErrorBody.parse(JSON.parse(answer?.body ?? ''))).toBeTruthy()
  })

  it('with its body, and through to a session, which is not asked to upgrade either', async () => {
    instance.serve = (request, response) => {
      request.pipe(response)
    }
    const lines = [
      ...WEBSOCKET.slice(0, 3).map((line) => line.replace('websocket', 'h2c')),
      'Content-Length: 5',
    ]
    const answer = await rawRequest(house.url, `${house.head(id, 'POST', 'ws', lines)}hello`)
    expect(answer).toMatchObject({ status: 200, headers: { connection: 'close' } })
    expect(answer?.body).toContain('hello')
    const { headers } = instance.last ?? {}
    expect(headers).not.toHaveProperty('upgrade')
    expect(headers).not.toHaveProperty('http2-settings')
    expect(instance.asked).toEqual([`POST /sessions/${id}/ws`])
  })
})

it('an upgrade behind a request that is not answered yet harms nobody else', async () => {
  instance.serve = (_, response) => void setTimeout(() => response.end('late'), 200)
  const token = `/v1/public/my-agent/sessions/${house.session(instance.socketPath, ['t'])}/t/ws`
  const socket = connect(Number(new URL(house.url).port), '127.0.0.1')
  socket.on('error', () => {})
  socket.resume()
  socket.write(house.head(id, 'GET', 'slow') + asking(`GET ${token}`, WEBSOCKET))
  const other = connect(Number(new URL(house.url).port), '127.0.0.1')
  other.on('error', () => {})
  other.resume()
  other.write(house.head(id, 'GET', 'slow') + asking('GET /v1/public/a/sessions/b/wrong/ws', WEBSOCKET))
  await once(other, 'close')
  expect(await (await house.ask(id, 'a')).text()).toBe('late')
  socket.destroy()
  expect(house.told.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

it('is part of the description of the API', async () => {
  const document = (await (await fetch(`${house.url}/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Record<string, unknown>>>
  }
  const proxied = document.paths['/v1/public/{agentName}/sessions/{sessionId}/{path}'] ?? {}
  expect(Object.keys(proxied).toSorted()).toEqual([
    'delete',
    'get',
    'head',
    'options',
    'patch',
    'post',
    'put',
  ])
  expect(proxied.post).toMatchObject({
    security: [{ PublicKey: [] }],
    requestBody: { content: { '*/*': {} } },
    responses: { 401: {}, 404: {}, 429: {}, 502: {}, default: {} },
  })
  expect(proxied.get).not.toHaveProperty('requestBody')
  for (const name of ['ws', 'ws-client']) {
    const { get } = document.paths[`/v1/public/{agentName}/sessions/{sessionId}/{token}/${name}`] ?? {}
    expect(get).toMatchObject({ security: [], responses: { 101: {}, 403: {} } })
  }
})

it('is reached by the address that was configured', async () => {
  const behind = await GatewayHouse.start({ publicUrl: 'https://bots.example/cloud/' })
  await behind.ask(behind.session(instance.socketPath), 'a', {
    headers: { 'x-forwarded-host': 'other.example' },
  })
  expect(instance.last?.headers).toMatchObject({
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'bots.example',
    'x-forwarded-prefix': '/cloud/v1/public/my-agent',
  })
  await behind.close()
})
