import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CARRIER_CREDENTIALS, CarrierApiDouble } from '../testing/carrier-api-double.ts'
import { LogCapture } from '../testing/log-capture.ts'
import type { Mood } from '../testing/room-provider-double.ts'
import { HangUp } from './hang-up.ts'

const CALLS = [
  ['telephony_a', 'CA0123456789abcdef0123456789abcdef'],
  ['telephony_b', 'v3:MdI91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg'],
  ['telephony_c', '97ceeb52-58b6-11e1-86da-77300b68f8bb'],
] as const

let double: CarrierApiDouble
let log: LogCapture
beforeEach(async () => {
  double = new CarrierApiDouble()
  log = new LogCapture()
  await double.listen()
})
afterEach(() => double.close())

const hangUpWith = (telephony = CARRIER_CREDENTIALS as object, limitMs?: number) =>
  new HangUp({ telephony: { ...telephony, apiUrls: double.urls }, logger: log.logger, limitMs })

describe.each(CALLS)('%s', (transport, callId) => {
  it('is hung up once, however often it is asked', async () => {
    double.live.add(callId)
    const line = hangUpWith()
    const results = [line.hangUp(transport, callId), line.hangUp(transport, callId)]
    expect(await Promise.all(results)).toEqual(['hung_up', 'hung_up'])
    expect(await line.hangUp(transport, callId)).toBe('hung_up')
    expect(double.ended).toEqual([callId])
    expect(double.seen).toHaveLength(1)
    expect(double.complaints).toEqual([])
  })

  it('may be over already', async () => {
    expect(await hangUpWith().hangUp(transport, callId)).toBe('already_over')
    expect(double.complaints).toEqual([])
    expect(log.lines.filter(({ level }) => level !== 'debug')).toEqual([])
  })

  it('is left alone without credentials', async () => {
    expect(await hangUpWith({}).hangUp(transport, callId)).toBe('not_possible')
    expect(double.seen).toEqual([])
  })

  it.each<Mood>(['refusing', 'silent', 'broken'])('fails without an exception when %s', async (mood) => {
    double.mood = mood
    expect(await hangUpWith(undefined, mood === 'silent' ? 300 : undefined).hangUp(transport, callId)).toBe(
      'failed',
    )
    expect(log.find('the call was not hung up')).toBeDefined()
    const written = JSON.stringify(log.lines)
    expect(written).not.toContain('secret')
    for (const { headers } of double.seen) expect(written).not.toContain(headers.authorization)
  })

  it('never leaves its place in the path, whatever the id is', async () => {
    const line = hangUpWith()
    const odd = fc.oneof(
      fc.constantFrom('', '.', '..', '../..', 'a/b', '%2e%2e', 'a?b', 'a#b', 'a\\b', 'x'.repeat(301)),
      fc.string({ unit: 'binary', maxLength: 30 }).filter((id) => !/^[\w:=+~-]+$/.test(id)),
    )
    await fc.assert(
      fc.asyncProperty(odd, async (id) => {
        expect(await line.hangUp(transport, id)).toBe('not_possible')
      }),
      { numRuns: 200 },
    )
    expect(double.seen).toEqual([])
  })
})

it('tells which credentials to look at', async () => {
  const line = hangUpWith({ b: { apiKey: 'another-secret' } })
  expect(await line.hangUp('telephony_b', 'v3:x')).toBe('failed')
  expect(log.lines.at(-1)?.msg).toContain('TELEPHONY_B_API_KEY')
})

it('has nothing to do for other transports', async () => {
  for (const transport of ['telephony_d', 'webrtc', 'websocket'] as const) {
    expect(await hangUpWith().hangUp(transport, 'call')).toBe('not_possible')
  }
  expect(double.seen).toEqual([])
})
