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
  it.each(['big', 'little'] as const)(
    'is understood when its bytes are %s-endian, and answered alike',
    (order) => {
      const codec = carrierCodec('l16')
      codec.decode(Buffer.alloc(320))
      expect(codec.decode(bytesOf(tone, order))).toEqual(tone)
      const quiet = Int16Array.of(1, -1, 256, 0)
      expect(codec.decode(bytesOf(quiet, order))).toEqual(quiet)
      expect(Buffer.from(codec.encode(tone))).toEqual(bytesOf(tone, order))
    },
  )

  it('is told apart by the hiss of an idle line alone', () => {
    const hiss = Int16Array.from({ length: 160 }, (_, at) => ((at * 7919) % 7) - 3)
    const codec = carrierCodec('l16')
    expect(codec.decode(bytesOf(hiss, 'big'))).toEqual(hiss)
  })

  it('is little-endian until there is sound', () => {
    expect([...carrierCodec('l16').encode(Int16Array.of(1))]).toEqual([1, 0])
  })

  it('survives half a sample, and nothing at all', () => {
    const codec = carrierCodec('l16')
    expect([...codec.decode(Uint8Array.of(1, 0, 9))]).toEqual([1])
    expect(codec.decode(Uint8Array.of()).length).toBe(0)
  })
})

describe.each(['pcmu', 'pcma'] as const)('%s', (name) => {
  it('gives back what it was given, but for its own noise', () => {
    const codec = carrierCodec(name)
    const back = codec.decode(codec.encode(tone))
    back.forEach((sample, at) => {
      expect(Math.abs(sample - (tone[at] ?? 0))).toBeLessThanOrEqual(256)
    })
    expect(Math.abs(codec.decode(Uint8Array.of(codec.silenceByte))[0] ?? 99)).toBeLessThanOrEqual(8)
  })
})
