import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Rooms } from '../rooms/rooms.ts'
import { LogCapture } from '../testing/log-capture.ts'
import { refusalOf } from '../testing/refusal.ts'
import { RoomProviderDouble } from '../testing/room-provider-double.ts'
import { Dialin } from './dialin.ts'

const KEY = 'room-key-1234567890'
const SECRET = Buffer.from('a secret that both know').toString('base64')
const NOW = Date.UTC(2030, 0, 1)
const CALL = {
  From: '+15550001111',
  To: '+15550002222',
  callId: 'call-1',
  callDomain: 'domain-1',
  sipHeaders: { 'X-Agent': 'sales' },
}

let double: RoomProviderDouble
let log: LogCapture
beforeEach(async () => {
  double = new RoomProviderDouble(KEY)
  log = new LogCapture()
  await double.listen()
})
afterEach(() => double.close())

function dialinWith(secret?: string): Dialin {
  const room = { apiKey: KEY, apiUrl: double.apiUrl }
  const rooms = new Rooms({ config: room, logger: log.logger })
  return new Dialin({
    rooms,
    room: { ...room, ...(secret && { dialinSecret: secret }) },
    logger: log.logger,
    clock: () => NOW,
  })
}

function request(body: unknown, headers: Record<string, string> = {}) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return { header: (name: string) => headers[name.toLowerCase()], body: Buffer.from(text) }
}

/** Signs as the provider does. */
function signed(body: unknown, time = String(NOW / 1000), secret = SECRET): Record<string, string> {
  const hmac = createHmac('sha256', Buffer.from(secret, 'base64'))
  return {
    'x-pinless-timestamp': time,
    'x-pinless-signature': hmac.update(`${time}.${JSON.stringify(body)}`).digest('base64'),
  }
}

describe('a caller', () => {
  it('gets a SIP room, and the bot gets what it needs to fetch the call', async () => {
    const dialin = dialinWith()
    const call = dialin.receive(request(CALL))
    if (call === undefined) throw new Error('there is no call')
    const { room, body } = await dialin.prepare(call)
    expect(body).toEqual({
      dialin_settings: {
        call_id: 'call-1',
        call_domain: 'domain-1',
        From: '+15550001111',
        To: '+15550002222',
        sip_headers: { 'X-Agent': 'sales' },
      },
      room_api_key: KEY,
      room_api_url: double.apiUrl,
    })
    expect(room.sipUri).toMatch(/^sip:/)
    expect(double.tokens.get(room.botToken)).toMatchObject({ is_owner: true, room_name: room.name })
    expect(double.rooms.get(room.name)?.properties.sip?.display_name).toBe(CALL.From)
    expect(double.complaints).toEqual([])
  })

  it.each([undefined, null])('may have no SIP headers (%s)', async (sipHeaders) => {
    const dialin = dialinWith()
    const call = dialin.receive(request({ ...CALL, sipHeaders }))
    if (call === undefined) throw new Error('there is no call')
    expect((await dialin.prepare(call)).body.dialin_settings).not.toHaveProperty('sip_headers')
  })

  it('hears of a provider that refuses as a 502 without the key', async () => {
    double.mood = 'refusing'
    const error = await dialinWith()
      .prepare(CALL)
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'provider_failed', status: 502 })
    expect(String(error)).not.toContain(KEY)
  })
})

describe('a body that is not a call', () => {
  it.each(['From', 'To', 'callId', 'callDomain'])('is refused with 422 without %s', (field) => {
    const error = refusalOf(() => dialinWith().receive(request({ ...CALL, [field]: undefined })))
    expect(error).toMatchObject({ code: 'invalid_request', status: 422 })
    expect(error.message).toContain(field)
    expect(log.find('not valid')).toMatchObject({ path: '/daily-dialin-webhook' })
  })

  it.each(['', '{', '[]', '1', 'null', '"test"', '{"test":false}'])('is refused with 422: %s', (body) => {
    expect(refusalOf(() => dialinWith().receive(request(body))).status).toBe(422)
  })

  it('never breaks anything', () => {
    const dialin = dialinWith()
    const value = fc.jsonValue({ maxDepth: 3 })
    const body = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .record({ From: value, To: value, callId: value, callDomain: value, sipHeaders: value, test: value })
        .map((record) => JSON.stringify(record)),
    )
    fc.assert(
      fc.property(body, (text) => {
        try {
          dialin.receive(request(text))
        } catch (error) {
          expect(error).toMatchObject({ status: 422 })
        }
      }),
    )
  })
})

describe("the provider's test", () => {
  it.each([{ test: 'test' }, { Test: true }, { test: 1, From: '+1' }])('is no call: %o', (body) => {
    expect(dialinWith().receive(request(body))).toBeUndefined()
    expect(dialinWith(SECRET).receive(request(body))).toBeUndefined()
    expect(double.seen).toEqual([])
  })
})

describe('with a secret', () => {
  it.each([
    ['seconds', String(NOW / 1000)],
    ['milliseconds', String(NOW)],
  ])('a signed call is taken, with a time in %s', (_, time) => {
    expect(dialinWith(SECRET).receive(request(CALL, signed(CALL, time)))).toEqual(CALL)
  })

  it.each([
    ['no signature', {}],
    ['a signature of something else', signed({ ...CALL, To: '+1' })],
    ['a signature by somebody else', signed(CALL, undefined, 'YW5vdGhlcg==')],
    ['an old signature', signed(CALL, String(NOW / 1000 - 301))],
    ['a signature from the future', signed(CALL, String(NOW + 301_000))],
    ['a signature of another time', { ...signed(CALL), 'x-pinless-timestamp': String(NOW / 1000 + 1) }],
    ['no time', signed(CALL, '')],
    ['a time that is none', signed(CALL, 'now')],
  ])('%s is refused with 403', (_, headers) => {
    const error = refusalOf(() => dialinWith(SECRET).receive(request(CALL, headers)))
    expect(error).toMatchObject({ code: 'sender_not_verified', status: 403 })
    expect(error.message).not.toContain(SECRET)
  })
})
