import { describe, expect, it } from 'vitest'
import { carrierCodec } from './codec.ts'

const tone = Int16Array.from({ length: 160 }, (_, at) => 8000 * Math.sin(at / 5))

function bytesOf(samples: Int16Array, order: 'big' | 'little'): Buffer {
  const bytes = Buffer.alloc(samples.length * 2)
  samples.forEach((sample, at) => {
    if (order === 'big') bytes.writeInt16BE(sample, at * 2)
    else bytes.writeInt16LE(sample, at * 2)
  })
  return bytes
}

describe('linear sound', () => {
  it.each(['big', 'little'] as const)('goes both ways with its bytes in %s-endian order', (order) => {
    const codec = carrierCodec({ codec: 'l16', bigEndian: order === 'big' })
    expect(codec.decode(bytesOf(tone, order))).toEqual(tone)
    expect(Buffer.from(codec.encode(tone))).toEqual(bytesOf(tone, order))
  })

  it('survives half a sample, and nothing at all', () => {
    const codec = carrierCodec({ codec: 'l16' })
    expect([...codec.decode(Uint8Array.of(1, 0, 9))]).toEqual([1])
    expect(codec.decode(Uint8Array.of()).length).toBe(0)
  })
})

describe.each(['pcmu', 'pcma'] as const)('%s', (name) => {
  it('gives back what it was given, but for its own noise', () => {
    const codec = carrierCodec({ codec: name })
    const back = codec.decode(codec.encode(tone))
    back.forEach((sample, at) => {
      expect(Math.abs(sample - (tone[at] ?? 0))).toBeLessThanOrEqual(256)
    })
    expect(Math.abs(codec.decode(Uint8Array.of(codec.silenceByte))[0] ?? 99)).toBeLessThanOrEqual(8)
  })
})
