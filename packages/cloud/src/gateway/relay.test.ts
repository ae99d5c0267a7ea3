import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { cloudErrorBody } from '@botcli/protocol/cloud'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { until } from '../testing/cloud-fixture.ts'
import { GatewayHouse } from '../testing/gateway-house.ts'
import { rawRequest } from '../testing/raw-http.ts'
import { StandInInstance } from '../testing/stand-in-instance.ts'

let house: GatewayHouse
let instance: StandInInstance
let tokens = 0
const open: WebSocket[] = []
beforeAll(async () => {
  house = await GatewayHouse.start()
  instance = await StandInInstance.start({ perMessageDeflate: true })
})
afterEach(async () => {
  for (const websocket of open.splice(0)) websocket.terminate()
  await until(() => house.gateway.websockets === 0 && instance.websockets.size === 0, 'all to be over')
  instance.asked.length = 0
  instance.onUpgrade = undefined
  instance.onWebsocket = (websocket) => {
    websocket.on('message', (data, isBinary) => websocket.send(data, { binary: isBinary }))
  }
})
afterAll(async () => {
  await house.close()
  await instance.close()
})

/** A session with a token; gives the address of its WebSocket. */
function address(socketPath = instance.socketPath): { url: string; token: string } {
  tokens += 1
  const token = `token-${tokens}`
  return { url: house.websocketUrl(house.session(socketPath, [token]), token), token }
}

async function dial(url: string, options: WebSocket.ClientOptions = {}): Promise<WebSocket> {
  const websocket = new WebSocket(url, { perMessageDeflate: false, maxPayload: 256 * 1024 ** 2, ...options })
  open.push(websocket)
  await once(websocket, 'open')
  return websocket
}

/** A handshake, as bytes on the wire. */
function handshakeFor(url: string): string {
  const upgrade = 'Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
  return `GET ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\n${upgrade}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
}

/** The answer to an upgrade that was not one. */
async function refused(url: string): Promise<{ status: number; body: string }> {
  const websocket = new WebSocket(url)
  websocket.on('error', () => {})
  const [, response] = await once(websocket, 'unexpected-response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, body: Buffer.concat(chunks).toString() }
}

describe('what is sent arrives, frame by frame', () => {
  it('for any frames, of any size', async () => {
    const websocket = await dial(address().url)
    const frame = fc.oneof(
      fc
        .oneof(fc.nat(300), fc.nat(70_000), fc.constantFrom(125, 126, 65_535, 65_536))
        .map((size) => randomBytes(size)),
      fc.string({ unit: 'grapheme' }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { minLength: 1, maxLength: 10 }), async (frames) => {
        const back: (string | Buffer)[] = []
        const listen = (data: Buffer, isBinary: boolean): void => {
          back.push(isBinary ? data : data.toString())
        }
        websocket.on('message', listen)
        for (const one of frames) websocket.send(one)
        await until(() => back.length === frames.length, 'all frames')
        websocket.off('message', listen)
        expect(back.every((one, index) => Buffer.from(one).equals(Buffer.from(frames[index] ?? '')))).toBe(
          true,
        )
      }),
      { numRuns: 60 },
    )
  })

  it('with pieces, pings and compression as they were', async () => {
    const heard: string[] = []
    instance.onWebsocket = (websocket) => {
      websocket.on('ping', (data) => heard.push(`ping ${data}`))
      websocket.on('message', (data) => {
        heard.push(`message ${data}`)
        websocket.send(data, { compress: true })
      })
      websocket.on('close', (code, reason) => heard.push(`close ${code} ${reason}`))
    }
    const websocket = await dial(address().url, { perMessageDeflate: true })
    expect(websocket.extensions).toContain('permessage-deflate')
    websocket.ping('are you there')
    await once(websocket, 'pong')
    websocket.send('a'.repeat(1000), { fin: false })
    websocket.send('b'.repeat(1000), { fin: true })
    const [data] = await once(websocket, 'message')
    expect(data.toString()).toBe('a'.repeat(1000) + 'b'.repeat(1000))
    websocket.close(4321, 'bye')
    const [code, reason] = await once(websocket, 'close')
    expect([code, reason.toString()]).toEqual([4321, 'bye'])
    await until(() => heard.length === 3, 'the instance to hear the end')
    expect(heard).toEqual(['ping are you there', `message ${data}`, 'close 4321 bye'])
  })

  it('for a frame of 16 MiB, and for thousands of small ones at once', async () => {
    const websocket = await dial(address().url)
    const large = randomBytes(16 * 1024 * 1024)
    websocket.send(large)
    const [back] = await once(websocket, 'message')
    expect(createHash('sha256').update(back).digest('hex')).toBe(
      createHash('sha256').update(large).digest('hex'),
    )
    const numbers: number[] = []
    websocket.on('message', (data: Buffer) => numbers.push(data.readUInt32BE()))
    const count = 20_000
    for (let index = 0; index < count; index += 1) {
      const frame = Buffer.alloc(4 + (index % 300))
      frame.writeUInt32BE(index)
      websocket.send(frame)
    }
    await until(() => numbers.length === count, 'all numbers')
    expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index))
  })

  it('for a reader that is slow, without keeping much for it', async () => {
    const size = 96 * 1024 * 1024
    const chunk = randomBytes(1024 * 1024)
    let buffered = (): number => 0
    instance.onWebsocket = (websocket) => {
      buffered = () => websocket.bufferedAmount
      for (let sent = 0; sent < size; sent += chunk.length) websocket.send(chunk)
    }
    const websocket = await dial(address().url)
    websocket.pause()
    // It stands still when what is between the two is full.
    let before = -1
    await until(async () => {
      const isStill = buffered() === before && before > 0
      before = buffered()
      await new Promise((resolve) => setTimeout(resolve, 100))
      return isStill && buffered() === before
    }, 'the instance to be held up')
    expect(buffered()).toBeGreaterThan(size - 32 * 1024 * 1024)
    let received = 0
    websocket.on('message', (data: Buffer) => {
      if (data.equals(chunk)) received += data.length
    })
    websocket.resume()
    await until(() => received === size, 'all of it')
  })

  it('when the instance speaks first, and when many call at once', async () => {
    instance.onWebsocket = (websocket) => websocket.send('hello')
    const callers = Array.from({ length: 200 }, async () => {
      const websocket = new WebSocket(address().url)
      open.push(websocket)
      const [data] = await once(websocket, 'message')
      return String(data)
    })
    expect(new Set(await Promise.all(callers))).toEqual(new Set(['hello']))
    expect(house.gateway.websockets).toBe(200)
  })
})

describe('the request for the upgrade', () => {
  it('is told to the instance with its own query first, and how it was reached', async () => {
    await dial(`${address().url}?token=mine&x=1`, {
      origin: 'https://page.example',
      headers: {
        authorization: 'Bearer x',
        'x-forwarded-proto': 'https',
        'x-forwarded-for': '1.2.3.4',
        'x-own': 'y',
      },
    })
    expect(instance.asked).toEqual(['GET /ws-client?token=inner&token=mine&x=1'])
    const { headers } = instance.last ?? {}
    expect(headers).toMatchObject({
      origin: 'https://page.example',
      'x-own': 'y',
      'x-forwarded-proto': 'https',
      'x-forwarded-for': '1.2.3.4, 127.0.0.1',
      'x-forwarded-prefix': '/v1/public/my-agent',
      upgrade: 'websocket',
    })
    expect(headers?.authorization).toBeUndefined()
  })

  it('keeps the subprotocol that both agree on', async () => {
    instance.onWebsocket = () => {}
    const websocket = new WebSocket(address().url, ['audio.v1', 'audio.v2'])
    open.push(websocket)
    await once(websocket, 'open')
    expect(websocket.protocol).toBe('audio.v1')
  })

  it('is refused with a token that is wrong or was used, and nothing of the instance is touched', async () => {
    const { url } = address()
    await dial(url)
    const asked = instance.asked.length
    const other = address().url
    const wrong = [
      url,
      url.replace('ws-client', 'ws'),
      other.replace(/token-\d+/, 'token-x'),
      other.replace('my-agent', 'your-agent'),
      other.replace('my-agent', 'NO'),
      other.replace(/sessions\/[^/]+/, 'sessions/11111111-1111-4111-8111-111111111111'),
      other.replace(/sessions\/[^/]+/, 'sessions/x'),
    ]
    for (const one of wrong) {
      const { status, body } = await refused(one)
      expect([one, status]).toEqual([one, 403])
      expect(cloudErrorBody.parse(JSON.parse(body)).code).toBe('FORBIDDEN')
    }
    expect(instance.asked).toHaveLength(asked)
  })

  it('spends no token when it is malformed', async () => {
    const { url, token } = address()
    const { pathname } = new URL(url)
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    const ask = (lines: readonly string[], method = 'GET', query = '') => {
      const all = ['Host: x', 'Connection: upgrade', 'Upgrade: websocket', ...lines, '', '']
      return rawRequest(
        house.url,
        Buffer.from([`${method} ${pathname}${query} HTTP/1.1`, ...all].join('\r\n'), 'latin1'),
      )
    }
    const version = 'Sec-WebSocket-Version: 13'
    expect((await ask([]))?.status).toBe(400)
    expect((await ask([key]))?.status).toBe(400)
    expect((await ask([key, 'Sec-WebSocket-Version: 12']))?.status).toBe(400)
    expect((await ask([key, version], 'POST'))?.status).toBe(400)
    expect((await ask([key, version, 'Content-Length: 5']))?.status).toBe(400)
    expect((await ask([key, version], 'GET', '?\xe9'))?.status).toBe(400)
    expect(house.places.refunded).not.toContain(token)
    expect((await ask([key, version]))?.status).toBe(101)
  })

  it('that the instance refuses is answered as it says, and opens nothing else', async () => {
    instance.onUpgrade = (_, socket) => {
      socket.write('HTTP/1.1 403 No Way\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nno')
    }
    expect(await refused(address().url)).toEqual({ status: 403, body: 'no' })
    const asked = instance.asked.length
    // A caller that goes on as if it spoke to the instance itself.
    const handshake = handshakeFor(address().url)
    const socket = connect(Number(new URL(house.url).port), '127.0.0.1')
    let text = ''
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk
    })
    socket.write(`${handshake}GET /instance HTTP/1.1\r\nHost: x\r\n\r\n`)
    await until(() => text.includes('no'), 'the refusal')
    socket.write('POST /start HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n')
    if (!socket.closed) await once(socket, 'close')
    expect(text).toBe('HTTP/1.1 403 No Way\r\nX-Own: 1\r\nContent-Length: 2\r\n\r\nno')
    expect(instance.asked).toHaveLength(asked + 1)
  })

  it('gets nothing that would speak for everything at the address of the cloud, agreed or refused', async () => {
    const site = 'Set-Cookie: a=1\r\nstrict-transport-security : max-age=9\r\nNEL: {}\r\n'
    instance.onUpgrade = (_, socket) =>
      socket.end(`HTTP/1.1 403 No Way\r\n${site}X-Own: 1\r\n${site}Content-Length: 2\r\n\r\nno`)
    const refusal = await rawRequest(house.url, handshakeFor(address().url))
    expect(refusal).toEqual({ status: 403, headers: { 'x-own': '1', 'content-length': '2' }, body: 'no' })
    const upgrade = 'Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n'
    instance.onUpgrade = (_, socket) =>
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${site}${upgrade}\r\n`)
    const agreed = await rawRequest(house.url, handshakeFor(address().url))
    expect(Object.keys(agreed?.headers ?? {})).toEqual(['upgrade', 'connection', 'sec-websocket-accept'])
  })

  it.each(['X-Own: 1\r\n Set-Cookie: a=1', 'X-Own: 1\nSet-Cookie: a=1'])(
    'whose answer can be read in two ways (%j) is a failure',
    async (line) => {
      instance.onUpgrade = (_, socket) =>
        socket.end(`HTTP/1.1 403 No Way\r\n${line}\r\nContent-Length: 2\r\n\r\nno`)
      expect((await rawRequest(house.url, handshakeFor(address().url)))?.status).toBe(502)
    },
  )

  it('that was refused is let go, though it goes on sending', async () => {
    const socket = connect(Number(new URL(house.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.resume()
    socket.write(handshakeFor(house.websocketUrl(randomUUID(), 'none')))
    const drip = setInterval(() => socket.write('x'), 100)
    await once(socket, 'close')
    clearInterval(drip)
  })

  it('whose answer has no length goes on until the instance ends it', async () => {
    instance.onUpgrade = (_, socket) => socket.end('HTTP/1.1 409 Conflict\r\n\r\nbusy')
    expect(await refused(address().url)).toEqual({ status: 409, body: 'busy' })
  })

  it.each(['nothing', 'SSH-2.0-x\r\n\r\n'])('that is answered with %j is a failure', async (answer) => {
    instance.onUpgrade = (_, socket) => (answer === 'nothing' ? socket.destroy() : socket.end(answer))
    const { url, token } = address()
    const { status, body } = await refused(url)
    expect([status, cloudErrorBody.parse(JSON.parse(body)).code]).toEqual([502, 'DEPLOY-SESSION-FAILED'])
    // It has seen the caller, so the token is spent.
    expect(house.places.refunded).not.toContain(token)
  })

  it('to an instance that is not there gives the token back', async () => {
    const gone = await StandInInstance.start()
    await gone.close()
    const { url, token } = address(gone.socketPath)
    for (let times = 1; times <= 3; times += 1) {
      const { status, body } = await refused(url)
      expect([status, cloudErrorBody.parse(JSON.parse(body)).code]).toEqual([502, 'DEPLOY-SESSION-FAILED'])
      expect(house.places.refunded.filter((one) => one === token)).toHaveLength(times)
    }
  })
})

describe('the end', () => {
  it('of the caller is that of the instance, however it comes', async () => {
    let closed = 0
    instance.onWebsocket = (websocket) => websocket.on('close', () => closed++)
    const polite = await dial(address().url)
    polite.close(1000)
    await until(() => closed === 1, 'the first end')
    const rude = await dial(address().url)
    rude.terminate()
    await until(() => closed === 2, 'the second end')
  })

  it('of the instance is that of the caller', async () => {
    const websocket = await dial(address().url)
    const closed = once(websocket, 'close')
    for (const one of instance.websockets) one.terminate()
    expect(await closed).toMatchObject([1006, expect.anything()])
  })

  it('comes after everything that was said before it', async () => {
    const chunk = randomBytes(1024 * 1024)
    instance.onWebsocket = (websocket) => {
      for (let count = 0; count < 20; count += 1) websocket.send(chunk)
      websocket.close(1001, 'over')
    }
    const websocket = new WebSocket(address().url)
    open.push(websocket)
    let received = 0
    websocket.on('message', (data: Buffer) => {
      received += data.length
    })
    const [code] = await once(websocket, 'close')
    expect([code, received]).toEqual([1001, 20 * chunk.length])
  })
})
