import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { buildRtp, isRtcp, parseRtp, sequenceDistance, timestampDistance } from './rtp.ts'

const PACKET = {
  payloadType: 111,
  marker: true,
  sequence: 65535,
  timestamp: 4294967295,
  ssrc: 3735928559,
  payload: Uint8Array.of(1, 2, 3),
}

describe('RTP', () => {
  it('reads what it spells', () => {
    const parsed = parseRtp(buildRtp(PACKET))
    expect({ ...parsed, payload: [...(parsed?.payload ?? [])] }).toEqual({ ...PACKET, payload: [1, 2, 3] })
  })

  it('skips sources, extensions and padding', () => {
    const plain = buildRtp(PACKET)
    const bytes = Buffer.concat([
      plain.subarray(0, 12),
      Buffer.alloc(8, 7),
      Buffer.from([0xbe, 0xde, 0, 1, 9, 9, 9, 9]),
      plain.subarray(12),
      Buffer.from([0, 0, 3]),
    ])
    bytes[0] = 0x80 | 0x20 | 0x10 | 2
    expect([...(parseRtp(bytes)?.payload ?? [])]).toEqual([1, 2, 3])
  })

  it('gives nothing for what is torn or lies about its length', () => {
    const torn = (...edits: [at: number, value: number][]) => {
      const bytes = buildRtp(PACKET)
      for (const [at, value] of edits) bytes[at] = value
      return parseRtp(bytes)
    }
    expect(parseRtp(buildRtp(PACKET).subarray(0, 11))).toBeUndefined()
    expect(torn([0, 0x40])).toBeUndefined()
    expect(torn([0, 0x8f])).toBeUndefined()
    expect(torn([0, 0x90])).toBeUndefined()
    expect(torn([0, 0xa0], [14, 200])).toBeUndefined()
    expect(torn([0, 0xa0], [14, 0])).toBeUndefined()
    expect(torn([0, 0xa0], [14, 1])?.payload.length).toBe(2)
  })

  it('survives any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const packet = parseRtp(bytes)
        return packet === undefined || packet.payload.length <= bytes.length
      }),
    )
  })

  it('tells reports from packets', () => {
    expect(isRtcp(Uint8Array.of(0x80, 200))).toBe(true)
    expect(isRtcp(buildRtp(PACKET))).toBe(false)
    expect(isRtcp(new Uint8Array(0))).toBe(false)
  })

  it('counts across the wrap', () => {
    expect(sequenceDistance(2, 65534)).toBe(4)
    expect(sequenceDistance(65534, 2)).toBe(-4)
    expect(timestampDistance(100, 4294967196)).toBe(200)
    expect(timestampDistance(4294967196, 100)).toBe(-200)
  })
})
