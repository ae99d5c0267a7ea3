import { afterAll, beforeAll, expect, it } from 'vitest'
import { route } from '../api/route.ts'
import { CloudError } from '../errors.ts'
import { GatewayHouse } from '../testing/gateway-house.ts'
import { rawRequest } from '../testing/raw-http.ts'
import { StandInInstance } from '../testing/stand-in-instance.ts'

const ORIGIN = { origin: 'https://page.example' }
let house: GatewayHouse
let instance: StandInInstance
let id: string
beforeAll(async () => {
  const start = route({
    ...{ method: 'POST', path: '/v1/public/{agentName}/start', operationId: 'start', tag: 'x', summary: 'x' },
    auth: 'public',
    answers: {},
    handle: async () => {
      throw new CloudError('DEPLOY-AT-CAPACITY', 'Full.', { retryAfterSeconds: 7 })
    },
  })
  house = await GatewayHouse.start({ routes: [start] })
  instance = await StandInInstance.start()
  id = house.session(instance.socketPath)
})
afterAll(async () => {
  await house.close()
  await instance.close()
})

it.each(['my-agent/start', 'my-agent/sessions/x/y', 'nothing/at/all'])(
  'a browser may ask %s from any page, which it is told without a key',
  async (rest) => {
    const response = await fetch(`${house.url}/v1/public/${rest}`, {
      method: 'OPTIONS',
      headers: {
        ...ORIGIN,
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'authorization, content-type',
        'access-control-request-private-network': 'true',
      },
    })
    expect(response.status).toBe(204)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
      'access-control-allow-headers': 'authorization, content-type',
      'access-control-max-age': '7200',
      'access-control-allow-private-network': 'true',
    })
    expect(instance.asked).toEqual([])
  },
)

it('says nothing that was not asked in a form that it knows', async () => {
  const lines = `Origin: x\r\nAccess-Control-Request-Method: GET\r\nAccess-Control-Request-Headers: a\xff;b\r\n`
  const request = `OPTIONS /v1/public/x HTTP/1.1\r\nHost: x\r\n${lines}\r\n`
  const answer = await rawRequest(house.url, Buffer.from(request, 'latin1'))
  expect(answer?.headers['access-control-allow-headers']).toBe('Authorization, *')
})

it('OPTIONS that is no such question is proxied, with a key', async () => {
  expect((await house.ask(id, 'a', { method: 'OPTIONS', headers: ORIGIN })).status).toBe(200)
  expect(instance.asked).toEqual([`OPTIONS /sessions/${id}/a`])
  const init = { method: 'OPTIONS', headers: ORIGIN }
  expect((await fetch(`${house.url}/v1/public/my-agent/sessions/${id}/a`, init)).status).toBe(401)
})

it('every answer of the public API may be read by any page', async () => {
  const bearer = { authorization: `Bearer ${house.publicKey}` }
  const rows = [
    ['POST', 'my-agent/start', {}, 401],
    ['POST', 'my-agent/start', bearer, 429],
    ['GET', 'my-agent/start', bearer, 405],
    ['GET', 'nothing', bearer, 404],
    ['GET', '%zz', bearer, 404],
    ['GET', `my-agent/sessions/${id}`, bearer, 404],
    ['GET', `my-agent/sessions/${id}/..%2f`, bearer, 400],
    ['GET', `my-agent/sessions/${id}/a`, {}, 401],
    ['GET', `my-agent/sessions/${id}/a`, bearer, 200],
  ] as const
  for (const [method, rest, headers, status] of rows) {
    const response = await fetch(`${house.url}/v1/public/${rest}`, {
      method,
      headers: { ...ORIGIN, ...headers },
    })
    expect([rest, response.status]).toEqual([rest, status])
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-expose-headers')).toBe('Retry-After')
  }
})

it('the rest of the API is for no other page', async () => {
  for (const method of ['GET', 'OPTIONS']) {
    const headers = { ...ORIGIN, 'access-control-request-method': 'GET' }
    const response = await fetch(`${house.url}/v1/keys`, { method, headers })
    expect(response.status).toBe(401)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  }
})

it('what the bot says of other pages stays', async () => {
  instance.serve = (_, response) => {
    response.writeHead(200, { 'Access-Control-Allow-Origin': ORIGIN.origin, Vary: 'Origin' }).end()
  }
  const response = await house.ask(id, 'a', { headers: ORIGIN })
  expect(response.headers.get('access-control-allow-origin')).toBe(ORIGIN.origin)
  expect(response.headers.get('access-control-expose-headers')).toBe('Retry-After')
  instance.serve = (_, response) => {
    response.writeHead(200, { 'access-control-expose-headers': 'X-Own' }).end()
  }
  const other = await house.ask(id, 'a', { headers: ORIGIN })
  expect(other.headers.get('access-control-allow-origin')).toBe('*')
  expect(other.headers.get('access-control-expose-headers')).toBe('X-Own')
})
