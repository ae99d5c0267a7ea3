import { describe, expect, it } from 'vitest'
import { encodeTelephonyA, telephonyAFromCarrierSchema, telephonyAToCarrierSchema } from './telephony-a.ts'
import { encodeTelephonyB, telephonyBFromCarrierSchema, telephonyBToCarrierSchema } from './telephony-b.ts'
import { encodeTelephonyC, telephonyCFromCarrierSchema, telephonyCToCarrierSchema } from './telephony-c.ts'
import { encodeTelephonyD, telephonyDFromCarrierSchema, telephonyDToCarrierSchema } from './telephony-d.ts'

const CARRIERS = [
  {
    name: 'A',
    from: telephonyAFromCarrierSchema,
    to: telephonyAToCarrierSchema,
    begins: encodeTelephonyA({ event: 'start', start: { streamSid: 'MZ', callSid: 'CA' } }),
    speaks: encodeTelephonyA({ event: 'media', media: { payload: 'AAEC' } }),
    hears: encodeTelephonyA({ event: 'media', streamSid: 'MZ', media: { payload: 'AAEC' } }),
  },
  {
    name: 'B',
    from: telephonyBFromCarrierSchema,
    to: telephonyBToCarrierSchema,
    begins: encodeTelephonyB({ event: 'start', stream_id: 's', start: { call_control_id: 'c' } }),
    speaks: encodeTelephonyB({ event: 'media', stream_id: 's', media: { chunk: '2', payload: 'AAEC' } }),
    hears: encodeTelephonyB({ event: 'media', media: { payload: 'AAEC' } }),
  },
  {
    name: 'C',
    from: telephonyCFromCarrierSchema,
    to: telephonyCToCarrierSchema,
    begins: encodeTelephonyC({ event: 'start', start: { streamId: 's', callId: 'c' }, extra_headers: 'a=1' }),
    speaks: encodeTelephonyC({ event: 'media', streamId: 's', media: { chunk: 2, payload: 'AAEC' } }),
    hears: encodeTelephonyC({
      event: 'playAudio',
      streamId: 's',
      media: { contentType: 'audio/x-mulaw', sampleRate: 8000, payload: 'AAEC' },
    }),
  },
  {
    name: 'D',
    from: telephonyDFromCarrierSchema,
    to: telephonyDToCarrierSchema,
    begins: encodeTelephonyD({ event: 'start', start: { stream_sid: 's', call_sid: 'c' } }),
    speaks: encodeTelephonyD({ event: 'media', stream_sid: 's', media: { payload: 'AAEC' } }),
    hears: encodeTelephonyD({ event: 'media', stream_sid: 's', media: { payload: 'AAEC' } }),
  },
]

describe.each(CARRIERS)('the messages of carrier $name', ({ from, to, begins, speaks, hears }) => {
  it('are read as they were spelled, in both directions', () => {
    for (const text of [begins, speaks]) expect(from.parse(JSON.parse(text))).toEqual(JSON.parse(text))
    expect(to.parse(JSON.parse(hears))).toEqual(JSON.parse(hears))
  })

  it('are checked where it matters, and not where a call can do without', () => {
    const { media, ...rest } = JSON.parse(speaks)
    expect(from.safeParse({ ...rest, media: { ...media, payload: 'no base64!' } }).success).toBe(false)
    expect(from.safeParse({ ...rest, media: { ...media, payload: null } }).success).toBe(false)
    expect(from.safeParse({ ...rest, media: { ...media, chunk: [], timestamp: 'x' } }).success).toBe(true)
    expect(from.safeParse({ ...JSON.parse(begins), start: {} }).success).toBe(false)
    expect(to.safeParse({ event: 'hang-up' }).success).toBe(false)
  })
})
