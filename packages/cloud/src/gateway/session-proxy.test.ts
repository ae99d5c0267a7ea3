import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { cloudErrorBody } from '@botcli/protocol/cloud'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { until } from '../testing/cloud-fixture.ts'
import { GatewayHouse } from '../testing/gateway-house.ts'
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
  [
    `${method} ${path(rest)} HTTP/1.1`,
    'Host: cloud.example',
    `Authorization: Bearer ${house.publicKey}`,
    ...more,
    '',
    '',
  ].join('\r\n')

async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}

describe('a request to a session', () => {
  it.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'])(
    '%s comes to the instance, and its answer comes back',
    async (method) => {
      instance.serve = (_, response) => {
        response.writeHead(207, 'Quite So', { 'x-a': '1', 'set-cookie': ['a=1', 'b=2'] })
        response.end('said')
      }
      const response = await house.ask(id, 'a/b%20c/?x=1&x=%2F..%2F', { method })
      expect(instance.asked).toEqual([`${method} /sessions/${id}/a/b%20c/?x=1&x=%2F..%2F`])
      expect([response.status, response.statusText, await response.text()]).toEqual([207, 'Quite So', 'said'])
      expect(response.headers.get('x-a')).toBe('1')
      expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
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

describe('bodies', () => {
  it('go through both ways, whatever is in them and however large', async () => {
    const body = randomBytes(24 * 1024 * 1024)
    instance.serve = (request, response) => {
      request.pipe(response)
    }
    for (const framing of ['length', 'chunked']) {
      const init = {
        method: 'POST',
        duplex: 'half',
        body: framing === 'length' ? body : Readable.toWeb(Readable.from(slices(body))),
      }
      const response = await house.ask(id, 'echo', init as RequestInit)
      const back = Buffer.from(await response.arrayBuffer())
      expect(createHash('sha256').update(back).digest('hex')).toBe(
        createHash('sha256').update(body).digest('hex'),
      )
    }
  })

  it('are the same at any size and in any pieces', async () => {
    instance.serve = (request, response) => {
      request.pipe(response)
    }
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 3000 }), { maxLength: 8 }), async (pieces) => {
        const body = Readable.toWeb(Readable.from(pieces.map((piece) => Buffer.from(piece))))
        const response = await house.ask(id, 'echo', { method: 'PUT', body, duplex: 'half' } as RequestInit)
        expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat(pieces))
      }),
      { numRuns: 60 },
    )
  })

  it('are streamed: each piece comes before the next is sent', async () => {
    instance.serve = (request, response) => {
      response.writeHead(200).flushHeaders()
      request.on('data', (chunk: Buffer) => response.write(`got ${chunk}`))
      request.on('end', () => response.end())
    }
    const asked = httpRequest(`${house.url}${path('live')}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${house.publicKey}`, 'transfer-encoding': 'chunked' },
    })
    asked.flushHeaders()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    response.setEncoding('utf8')
    for (const word of ['one', 'two', 'three']) {
      asked.write(word)
      expect(await once(response, 'data')).toEqual([`got ${word}`])
    }
    asked.end()
    await once(response, 'end')
  })

  it('that are silent at first have their head sent at once', async () => {
    let end = (): void => {}
    instance.serve = (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      end = () => response.end('late')
    }
    const response = await house.ask(id, 'events')
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    end()
    expect(await response.text()).toBe('late')
  })

  it('wait for a slow reader instead of being kept', async () => {
    let written = 0
    instance.serve = (_, response) => {
      const more = (): void => {
        while (written < 200 * 1024 * 1024) {
          written += 65_536
          if (!response.write(Buffer.alloc(65_536))) return
        }
        response.end()
      }
      response.on('drain', more)
      more()
    }
    const asked = httpRequest(`${house.url}${path('big')}`, {
      headers: { authorization: `Bearer ${house.publicKey}` },
    })
    asked.end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    let before = -1
    // It stands still when all the buffers on the way are full.
    await until(async () => {
      const isStill = written === before && written > 0
      before = written
      await new Promise((resolve) => setTimeout(resolve, 100))
      return isStill && written === before
    }, 'the instance to be held up')
    expect(written).toBeLessThan(32 * 1024 * 1024)
    let size = 0
    for await (const chunk of response as AsyncIterable<Buffer>) size += chunk.length
    expect(size).toBe(200 * 1024 * 1024)
  })

  it('wait for an instance that reads slowly', async () => {
    let go = (): void => {}
    instance.serve = (request, response) => {
      go = () => {
        request.resume()
        request.on('end', () => response.end('read'))
      }
    }
    const asked = httpRequest(`${house.url}${path('big')}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${house.publicKey}` },
    })
    const answered = once(asked, 'response')
    let sent = 0
    while (asked.write(Buffer.alloc(65_536)) || (await drained(asked))) {
      sent += 65_536
      if (sent > 64 * 1024 * 1024) break
    }
    expect(sent).toBeLessThan(32 * 1024 * 1024)
    go()
    asked.end()
    const [response] = (await answered) as [IncomingMessage]
    expect((await bytesOf(response as AsyncIterable<Buffer>)).toString()).toBe('read')
  })

  it('are asked for when the instance wants them', async () => {
    instance.serve = async (request, response) => response.end(await bytesOf(request))
    const socket = connect(Number(new URL(house.url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    socket.write(head('POST', 'a', ['Content-Length: 5', 'Expect: 100-continue', 'Connection: close']))
    await until(() => text === 'HTTP/1.1 100 Continue\r\n\r\n', 'the word to go on')
    socket.write('hello')
    await once(socket, 'close')
    expect(text).toMatch(/100 Continue\r\n\r\nHTTP\/1\.1 200 OK[\s\S]*hello$/)
  })

  it('that nobody wants are not asked for', async () => {
    const expecting = ['Content-Length: 5', 'Expect: 100-continue']
    const refused = await rawRequest(
      house.url,
      head('POST', 'a', expecting).replace(house.publicKey, 'pk_wrong'),
    )
    expect(refused).toMatchObject({ status: 401, headers: { connection: 'close' } })
    // The instance's own word, which reads no body.
    const other = await StandInInstance.start()
    const otherId = house.session(other.socketPath)
    other.onExpect((_, response) => response.writeHead(417, { 'content-length': '2' }).end('no'))
    const answer = await rawRequest(house.url, head('POST', 'a', expecting).replace(id, otherId))
    expect(answer).toMatchObject({ status: 417, body: 'no', headers: { connection: 'close' } })
    await other.close()
  })

  it('may be answered before they are over; the connection goes on', async () => {
    instance.serve = (_, response) => response.writeHead(413).end('too much')
    const socket = connect(Number(new URL(house.url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    const size = 3 * 1024 * 1024
    socket.write(head('POST', 'a', [`Content-Length: ${size}`]))
    socket.write(Buffer.alloc(1024 * 1024))
    await until(() => text.includes('too much'), 'the answer')
    socket.write(Buffer.alloc(2 * 1024 * 1024))
    socket.write(head('GET', 'next', ['Connection: close']))
    await once(socket, 'close')
    expect(instance.asked).toEqual([`POST /sessions/${id}/a`, `GET /sessions/${id}/next`])
    expect(text.match(/HTTP\/1\.1 413/g)).toHaveLength(2)
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

it('never lets a path out of its session, nor a header break a request', async () => {
  const piece = fc.constantFrom(
    '.',
    '..',
    '/',
    '//',
    '\\',
    '%2e',
    '%2f',
    '%5c',
    '%252e',
    '%252f',
    ';',
    '?',
    'a',
    'start',
    'instance',
    '%00',
    '%',
  )
  const rest = fc.oneof(
    fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')),
    fc.constantFrom('a', 'api/offer?x=1', 'a%2fb'),
  )
  const name = fc.constantFrom(
    'Connection',
    'Transfer-Encoding',
    'Content-Length',
    'Expect',
    'Upgrade',
    'Host',
    'X-Forwarded-For',
    'X-Forwarded-Host',
    'X-Forwarded-Prefix',
    'TE',
    'Trailer',
    'X',
  )
  const character = fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code))
  const value = fc.oneof(
    fc.constantFrom(
      'chunked',
      'gzip, chunked',
      '0',
      '5',
      '100-continue',
      'close',
      'keep-alive',
      'upgrade',
      'h2c',
      'websocket',
      'content-length',
      'host',
      '/x',
      '/../x',
      'a b',
    ),
    fc.string({ unit: character, maxLength: 20 }).filter((one) => !one.includes('\u007f')),
  )
  const method = fc.constantFrom('GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'TRACE', 'SEARCH')
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(
      method,
      rest,
      fc.array(fc.tuple(name, value), { maxLength: 4 }),
      async (verb, to, given) => {
        const lines = [...given.map((pair) => pair.join(': ')), 'Connection: close']
        const isChunked = given.some(([one, text]) => one === 'Transfer-Encoding' && text.includes('chunked'))
        const hasLength = given.some(([one, text]) => one === 'Content-Length' && text === '5')
        const body = isChunked ? '5\r\nhello\r\n0\r\n\r\n' : hasLength ? 'hello' : ''
        const request = `${head(verb, to, lines)}${body}`
        const answer = await rawRequest(house.url, Buffer.from(request, 'latin1'))
        expect(answer).toBeDefined()
        const status = answer?.status ?? 0
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        expect(status).not.toBe(500)
        if (status >= 400 && verb !== 'HEAD')
          expect(cloudErrorBody.parse(JSON.parse(answer?.body ?? ''))).toBeTruthy()
      },
    ),
    { numRuns: 400 },
  )
  const strays = instance.asked.filter((one) => !new RegExp(`^\\w+ /sessions/${id}/[^/\\\\]`).test(one))
  expect(strays).toEqual([])
  expect(
    instance.asked.every((one) =>
      new URL(one.split(' ')[1] ?? '', 'http://x').pathname.startsWith(`/sessions/${id}/`),
    ),
  ).toBe(true)
  expect(statuses.get(200)).toBeGreaterThan(10)
  expect(house.told.filter((line) => line.includes('"level":"error"'))).toEqual([])
})

function* slices(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 100_003) yield bytes.subarray(at, at + 100_003)
}

/** Whether a stream takes more within a moment. */
async function drained(stream: NodeJS.WritableStream): Promise<boolean> {
  const signal = AbortSignal.timeout(1500)
  return once(stream, 'drain', { signal }).then(
    () => true,
    () => false,
  )
}
