import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import fc from 'fast-check'
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
