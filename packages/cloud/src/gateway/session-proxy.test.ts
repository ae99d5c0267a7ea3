import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { cloudErrorBody } from '@botcli/protocol/cloud'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../testing/cloud-fixture.ts'
import { bytesOf, GatewayHouse } from '../testing/gateway-house.ts'
import { rawRequest } from '../testing/raw-http.ts'
import { StandInInstance } from '../testing/stand-in-instance.ts'

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
  instance.serve = (_, response) => response.end('ok')
})

const path = (rest: string): string => `/v1/public/my-agent/sessions/${id}/${rest}`
const head = (method: string, rest: string, more: readonly string[] = []): string =>
  house.head(id, method, rest, more)

describe('a request to a session', () => {
  it('gets nothing back that would speak for everything at the address of the cloud', async () => {
    const site = {
      ...{ 'set-cookie': 'a=1', 'clear-site-data': '"*"', 'strict-transport-security': 'max-age=9' },
      ...{ 'alt-svc': 'h3=":1"', nel: '{}', 'report-to': '{}', 'reporting-endpoints': 'a="https://b"' },
    }
    instance.serve = (_, response) => response.writeHead(200, site).end()
    const { headers } = await house.ask(id, 'a')
    expect(Object.keys(site).filter((name) => headers.has(name))).toEqual([])
  })

  it('that goes wrong while it is answered is broken off, and nothing is added to the answer', async () => {
    instance.serve = (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('begun')
    }
    const socket = connect(Number(new URL(house.url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    socket.write(`${head('POST', 'a', ['Transfer-Encoding: chunked'])}3\r\nabc\r\n`)
    await until(() => text.includes('begun'), 'the answer to begin')
    socket.write('this is no chunk\r\n')
    if (!socket.closed) await once(socket, 'close')
    expect(text.endsWith('begun')).toBe(true)
  })

  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    '%s comes to the instance, and its answer comes back',
    async (method) => {
      instance.serve = (_, response) => {
        response.writeHead(207, 'Quite So', { 'x-a': '1', link: ['a', 'b'] })
        response.end('said')
      }
      const response = await house.ask(id, 'a/b%20c/?x=1&x=%2F..%2F', { method })
      expect(instance.asked).toEqual([`${method} /sessions/${id}/a/b%20c/?x=1&x=%2F..%2F`])
      expect([response.status, response.statusText, await response.text()]).toEqual([207, 'Quite So', 'said'])
      expect(response.headers.get('x-a')).toBe('1')
      expect(response.headers.get('link')).toBe('a, b')
    },
  )

  it('may be HEAD, whose answer has no body but its length', async () => {
    instance.serve = (_, response) => response.writeHead(200, { 'content-length': '1000' }).end()
    const response = await house.ask(id, 'a', { method: 'HEAD' })
    expect(response.headers.get('content-length')).toBe('1000')
    expect(await response.text()).toBe('')
  })

  it('may be answered with 204 and 304', async () => {
    for (const status of [204, 304]) {
      instance.serve = (_, response) => response.writeHead(status, { etag: '"x"' }).end()
      expect((await house.ask(id, 'a')).status).toBe(status)
    }
  })

  it('carries what tells the instance how it was reached, and nothing that is not for it', async () => {
    const lines = [
      'X-Forwarded-For: 10.9.8.7',
      'X-Forwarded-Proto: https',
      'X-Forwarded-Host: bots.example',
      'X-Forwarded-Prefix: /cloud/',
      'Forwarded: for=1.2.3.4;host=evil.example',
      'Connection: X-Private, Keep-Alive, content-length',
      'Keep-Alive: timeout=5',
      'Cookie: sso=1',
      'Proxy-Authorization: Basic x',
      'TE: trailers',
      'X-Private: 1',
      'X-Twice: a',
      'x-twice: b',
      'Origin: https://page.example',
    ]
    await rawRequest(house.url, `${head('POST', 'a', [...lines, 'Content-Length: 2']).toString()}hi`)
    const { rawHeaders = [], headers = {} } = instance.last ?? {}
    expect(headers).toEqual({
      host: 'bots.example',
      'x-twice': 'a, b',
      origin: 'https://page.example',
      'x-forwarded-for': '10.9.8.7, 127.0.0.1',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'bots.example',
      'x-forwarded-prefix': '/cloud/v1/public/my-agent',
      'content-length': '2',
      connection: 'keep-alive',
    })
    expect(rawHeaders).toContain('X-Twice')
  })

  it('keeps headers of one connection to itself on the way back', async () => {
    instance.serve = (_, response) => {
      response.writeHead(200, { connection: 'x-hop', 'x-hop': '1', 'keep-alive': 'timeout=9', 'x-end': '2' })
      response.end('ok')
    }
    const answer = await rawRequest(house.url, head('GET', 'a'))
    expect(answer?.headers).toMatchObject({ 'x-end': '2' })
    expect(answer?.headers).not.toHaveProperty('x-hop')
    expect(answer?.headers['keep-alive']).toBeUndefined()
  })

  it('without a body is none that waits for one', async () => {
    instance.serve = async (request, response) => {
      const body = await bytesOf(request)
      response.end(
        `${request.headers['content-length']} ${request.headers['transfer-encoding']} ${body.length}`,
      )
    }
    expect(await (await house.ask(id, 'a', { method: 'POST' })).text()).toBe('0 undefined 0')
    expect((await rawRequest(house.url, head('POST', 'a')))?.body).toBe('0 undefined 0')
    expect((await rawRequest(house.url, head('DELETE', 'a')))?.body).toBe('0 undefined 0')
    expect((await rawRequest(house.url, head('GET', 'a')))?.body).toBe('undefined undefined 0')
    const chunked = `${head('GET', 'a', ['Transfer-Encoding: chunked'])}3\r\nabc\r\n0\r\n\r\n`
    expect((await rawRequest(house.url, chunked))?.body).toBe('undefined chunked 3')
  })

  it('is answered over one connection that is used again and again', async () => {
    const sockets = new Set<unknown>()
    instance.serve = (request, response) => {
      sockets.add(request.socket)
      response.end('ok')
    }
    for (let count = 0; count < 20; count += 1) await (await house.ask(id, 'a')).text()
    expect(sockets.size).toBe(1)
  })

  it('gets through when the instance has closed the connection that was to be used again', async () => {
    await (await house.ask(id, 'a')).text()
    // It is read and closed, and the gateway learns of it only when it has sent.
    instance.serve = (request, response) => {
      instance.serve = (_, again) => again.end('second')
      request.socket.destroy()
      response.destroy()
    }
    expect(await (await house.ask(id, 'a')).text()).toBe('second')
    expect(instance.asked).toHaveLength(3)
  })
})

describe('whoever may not', () => {
  const body = async (response: Response) => cloudErrorBody.parse(await response.json())

  it('is told why, and nothing of the instance is touched', async () => {
    const ask = (headers: HeadersInit, to = path('a')) => fetch(`${house.url}${to}`, { headers })
    const bearer = (key: string) => ({ authorization: `Bearer ${key}` })
    const rows = [
      [await ask({}), 401, 'UNAUTHORIZED'],
      [await ask(bearer('pk_unknown')), 401, 'UNAUTHORIZED'],
      [await ask(bearer(house.privateKey)), 403, 'FORBIDDEN'],
      [await ask({}, '/v1/public/NO/sessions/x/..%2f'), 401, 'UNAUTHORIZED'],
      [await ask(bearer(house.publicKey), path('a').replace(id, 'x')), 400, 'INVALID_REQUEST'],
      [await ask(bearer(house.publicKey), path('a').replace('my-agent', 'NO')), 400, 'INVALID_REQUEST'],
      [await ask(bearer(house.publicKey), path('..%2fx')), 400, 'INVALID_REQUEST'],
      [await ask(bearer(house.publicKey), path('')), 400, 'INVALID_REQUEST'],
    ] as const
    for (const [response, status, code] of rows) {
      expect([response.status, (await body(response)).code]).toEqual([status, code])
      expect(response.headers.get('access-control-allow-origin')).toBe('*')
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    }
    expect(rows[0][0].headers.get('www-authenticate')).toBe('Bearer')
    expect(instance.asked).toEqual([])
  })

  it('cannot tell what is of others from what is not there', async () => {
    const other = randomUUID()
    house.places.add({
      ...{ organizationId: house.otherOrganizationId, agentName: 'my-agent' },
      ...{ sessionId: other, socketPath: instance.socketPath },
    })
    const over = house.session(instance.socketPath)
    house.places.remove(over)
    const ask = (one: string, agent = 'my-agent') =>
      fetch(`${house.url}${path('a').replace(id, one).replace('my-agent', agent)}`, {
        headers: { authorization: `Bearer ${house.publicKey}` },
      })
    const said = new Set<string>()
    for (const [one, agent] of [[other], [over], [randomUUID()], [id, 'your-agent']] as const) {
      const response = await ask(one, agent)
      expect(response.status).toBe(404)
      const { error } = await body(response)
      said.add(error.replace(one, '').replace(agent ?? 'my-agent', ''))
    }
    expect(said.size).toBe(1)
    expect(instance.asked).toEqual([])
    const theirs = await fetch(`${house.url}${path('a').replace(id, other)}`, {
      headers: { authorization: `Bearer ${house.otherPublicKey}` },
    })
    expect(await theirs.text()).toBe('ok')
  })

  it('finds the session under another spelling of its id', async () => {
    expect((await house.ask(id.toUpperCase(), 'a')).status).toBe(200)
    expect(instance.asked).toEqual([`GET /sessions/${id}/a`])
  })
})

it('more requests to one session than there may be', async () => {
  const waiting: (() => void)[] = []
  instance.serve = (_, response) => {
    response.writeHead(200).flushHeaders()
    waiting.push(() => response.end('ok'))
  }
  const first = Array.from({ length: 100 }, () => house.ask(id, 'a'))
  await until(() => waiting.length === 100, 'all to be there')
  const refused = await house.ask(id, 'a')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.headers.get('access-control-expose-headers')).toContain('Retry-After')
  // Another session of the same instance is not held up.
  const other = house.session(instance.socketPath)
  const othersAnswer = house.ask(other, 'a')
  await until(() => waiting.length === 101, 'the other to be there')
  for (const end of waiting) end()
  await Promise.all([...first, othersAnswer].map(async (response) => (await response).text()))
  instance.serve = (_, response) => response.end('ok')
  expect((await house.ask(id, 'a')).status).toBe(200)
})
