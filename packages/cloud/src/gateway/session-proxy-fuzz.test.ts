import { cloudErrorBody } from '@botcli/protocol/cloud'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
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

const head = (method: string, rest: string, more: readonly string[] = []): string =>
  house.head(id, method, rest, more)

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
