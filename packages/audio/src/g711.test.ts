import { describe, expect, it } from 'vitest'
import { ALAW_SILENCE, decodeAlaw, decodeUlaw, encodeAlaw, encodeUlaw, ULAW_SILENCE } from './g711.ts'

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte)
const everySample = Int16Array.from({ length: 65_536 }, (_, index) => index - 32_768)

/** The largest part of a sample that its coding changes, above the smallest steps. */
function worstError(decoded: Int16Array): number {
  let worst = 0
  everySample.forEach((sample, index) => {
    const error = Math.abs(sample - (decoded[index] ?? 0))
    if (Math.abs(sample) > 256) worst = Math.max(worst, error / Math.abs(sample))
  })
  return worst
}

describe('µ-law', () => {
  it('has the values of the standard', () => {
    expect([...decodeUlaw(Uint8Array.of(0x00, 0x80, 0xff, 0x7f, 0xef, 0x8f, 0x01))]).toEqual([
      -32_124, 32_124, 0, 0, 132, 16_764, -31_100,
    ])
    expect([...encodeUlaw(Int16Array.of(0, -32_768, 32_767, 132, -1))]).toEqual([255, 0, 128, 239, 127])
  })

  it('comes back as it went, but for the second zero', () => {
    const back = encodeUlaw(decodeUlaw(everyByte))
    expect([...back]).toEqual([...everyByte].map((byte) => (byte === 0x7f ? 0xff : byte)))
  })

  it('is never off by more than its steps are wide', () => {
    expect(worstError(decodeUlaw(encodeUlaw(everySample)))).toBeLessThan(0.045)
    expect([...decodeUlaw(Uint8Array.of(ULAW_SILENCE))]).toEqual([0])
  })
})

describe('A-law', () => {
  it('has the values of the standard', () => {
    expect([...decodeAlaw(Uint8Array.of(0xd5, 0x55, 0xaa, 0x2a, 0x80))]).toEqual([
      8, -8, 32_256, -32_256, 5504,
    ])
    expect([...encodeAlaw(Int16Array.of(0, -1, 32_767, -32_768, 5504))]).toEqual([
      0xd5, 0x55, 0xaa, 0x2a, 0x80,
    ])
  })

  it('comes back as it went', () => {
    expect(encodeAlaw(decodeAlaw(everyByte))).toEqual(everyByte)
  })

  it('is never off by more than its steps are wide', () => {
    expect(worstError(decodeAlaw(encodeAlaw(everySample)))).toBeLessThan(0.045)
    expect([...encodeAlaw(Int16Array.of(0))]).toEqual([ALAW_SILENCE])
  })
})
