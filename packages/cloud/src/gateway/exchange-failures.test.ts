import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { cloudErrorBody } from '@botcli/protocol/cloud'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { until } from '../testing/cloud-fixture.ts'
import { GatewayHouse } from '../testing/gateway-house.ts'
import { rawRequest } from '../testing/raw-http.ts'
import { StandInInstance } from '../testing/stand-in-instance.ts'

let house: GatewayHouse
let instance: StandInInstance
let id: string
beforeEach(async () => {
  house = await GatewayHouse.start({ limits: { answerMs: 1000, silenceMs: 2000 }, idleMs: 1500 })
  instance = await StandInInstance.start()
  id = house.session(instance.socketPath)
})
afterEach(async () => {
  expect(house.told.filter((line) => line.includes('"level":"error"'))).toEqual([])
  await house.close()
  await instance.close()
})

async function expectFailed(response: Response): Promise<void> {
  expect(response.status).toBe(502)
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  expect(cloudErrorBody.parse(await response.json()).code).toBe('DEPLOY-SESSION-FAILED')
}

/** A request whose answer is read by hand. */
async function opened(rest: string): Promise<IncomingMessage> {
  const asked = httpRequest(`${house.url}/v1/public/my-agent/sessions/${id}/${rest}`, {
    headers: { authorization: `Bearer ${house.publicKey}` },
  })
  asked.end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  return response
}

it('an instance that is not there', async () => {
  await instance.close()
  await expectFailed(await house.ask(id, 'a'))
  await expectFailed(await house.ask(id, 'a', { method: 'POST', body: 'x'.repeat(1_000_000) }))
})

it('an instance that ends before it answers', async () => {
  instance.serve = (request) => request.socket.destroy()
  await expectFailed(await house.ask(id, 'a'))
  await expectFailed(await house.ask(id, 'a', { method: 'POST', body: 'x'.repeat(1_000_000) }))
})

it('an instance whose answer is not HTTP', async () => {
  instance.serve = ({ socket }) => socket.end('SSH-2.0-x\r\n\r\n')
  await expectFailed(await house.ask(id, 'a'))
  instance.serve = ({ socket }) =>
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
  await expectFailed(await house.ask(id, 'a'))
})

it('an instance whose answer has a reason that is none', async () => {
  instance.serve = ({ socket }) => socket.end('HTTP/1.1 207 A\x01B\r\nContent-Length: 2\r\n\r\nok')
  const response = await house.ask(id, 'a')
  expect([response.status, response.statusText, await response.text()]).toEqual([207, '', 'ok'])
  instance.serve = ({ socket }) => socket.end('HTTP/1.1 200 A\x01B\r\nX: \x01\r\n\r\n')
  await expectFailed(await house.ask(id, 'a'))
})

it('an instance that ends in the middle of its answer: the caller sees that it is not whole', async () => {
  instance.serve = (request, response) => {
    response.writeHead(200).write('half')
    setTimeout(() => request.socket.destroy(), 50)
  }
  const response = await house.ask(id, 'a')
  await expect(response.text()).rejects.toThrow()
  expect((await house.ask(id, 'a')).status).toBe(200)
})

it('an instance that hangs', async () => {
  instance.serve = () => {}
  await expectFailed(await house.ask(id, 'a'))
  const error = cloudErrorBody.parse(await (await house.ask(id, 'a', { method: 'POST', body: 'x' })).json())
  expect(error.error).toContain('1 s')
})

it('an instance that takes nothing of a body', async () => {
  instance.serve = (request) => request.pause()
  await expectFailed(await house.ask(id, 'a', { method: 'POST', body: 'x'.repeat(8_000_000) }))
})

it('an instance that falls silent in its answer', async () => {
  instance.serve = (_, response) => response.writeHead(200).write('half')
  await expect((await house.ask(id, 'a')).text()).rejects.toThrow()
})

it('an instance that speaks slowly is heard to its end', async () => {
  instance.serve = (_, response) => {
    let count = 0
    const timer = setInterval(() => {
      count += 1
      response.write(`${count} `)
      if (count < 5) return
      clearInterval(timer)
      response.end()
    }, 500)
  }
  expect(await (await house.ask(id, 'a')).text()).toBe('1 2 3 4 5 ')
})

it('a caller that breaks off: the instance is let go', async () => {
  let closed = 0
  instance.serve = (_, response) => {
    response.on('close', () => {
      closed += 1
    })
    if (closed > 0) response.writeHead(200).write('half')
  }
  const controller = new AbortController()
  const waiting = house.ask(id, 'a', { signal: controller.signal })
  await until(() => instance.asked.length === 1, 'the first request')
  controller.abort()
  await expect(waiting).rejects.toThrow()
  await until(() => closed === 1, 'the first to be let go')
  const response = await opened('b')
  response.destroy()
  await until(() => closed === 2, 'the second to be let go')
})

it('a caller that breaks off in its body', async () => {
  let wasAborted = false
  instance.serve = (request) => {
    request.resume()
    request.on('error', () => {
      wasAborted = true
    })
  }
  const socket = connect(Number(new URL(house.url).port), '127.0.0.1')
  socket.write(`${house.head(id, 'POST', 'a', ['Content-Length: 100'])}half`)
  await until(() => instance.asked.length === 1, 'the request')
  socket.destroy()
  await until(() => wasAborted, 'the instance to see it')
})

it('a caller that does not send its body is let go, and the instance with it', async () => {
  let wasAborted = false
  instance.serve = (request) => {
    request.resume()
    request.on('error', () => {
      wasAborted = true
    })
  }
  expect(
    await rawRequest(house.url, `${house.head(id, 'POST', 'a', ['Content-Length: 100'])}half`),
  ).toBeUndefined()
  await until(() => wasAborted, 'the instance to see it')
})

it('a caller that does not take its answer is let go, and the instance with it', async () => {
  let isClosed = false
  instance.serve = (_, response) => {
    response.on('close', () => {
      isClosed = true
    })
    const more = (): void => {
      while (response.write(Buffer.alloc(65_536)));
    }
    response.on('drain', more)
    more()
  }
  const response = await opened('a')
  response.on('error', () => {})
  await until(() => isClosed, 'the instance to be let go')
  response.destroy()
})
