import { describe, expect, it } from 'vitest'
import { amplitudeAt, loudestHertz } from '../testing/spectrum.ts'
import { OpusDecoder, OpusEncoder } from './opus.ts'

function frames(hertz: number, rate: number, count: number): Int16Array[] {
  const size = rate / 50
  return Array.from({ length: count }, (_, frame) =>
    Int16Array.from(
      { length: size },
      (_, i) => 10000 * Math.sin((2 * Math.PI * hertz * (frame * size + i)) / rate),
    ),
  )
}

function joined(parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]))
}

describe('Opus', () => {
  it.each([
    [8000, 8000],
    [16000, 16000],
    [24000, 16000],
    [22050, 44100],
    [48000, 8000],
    [44100, 16000],
  ])('carries a tone from %i to %i Hz', async (from, to) => {
    const encoder = new OpusEncoder(from)
    const decoder = await OpusDecoder.create(to)
    const heard = frames(440, from, 20).map((frame) => decoder.decode(Uint8Array.from(encoder.encode(frame))))
    decoder.close()
    expect(heard.map((part) => part.length)).toEqual(new Array(20).fill(to / 50))
    const steady = joined(heard.slice(5))
    expect(loudestHertz(steady, to)).toBe(440)
    expect(amplitudeAt(steady, 440, to)).toBeGreaterThan(9000)
  })

  it('goes on with the tone where packets are missing', async () => {
    const encoder = new OpusEncoder(16000)
    const decoder = await OpusDecoder.create(16000)
    for (const frame of frames(440, 16000, 10)) decoder.decode(Uint8Array.from(encoder.encode(frame)))
    const made = decoder.conceal(80)
    const next = Uint8Array.from(encoder.encodeSilence())
    expect(decoder.recover(next, 20).length).toBe(320)
    decoder.close()
    expect(made.length).toBe(1280)
    expect(amplitudeAt(made.subarray(0, 320), 440, 16000)).toBeGreaterThan(3000)
  })

  it('refuses what is not Opus and goes on', async () => {
    const encoder = new OpusEncoder(16000)
    const decoder = await OpusDecoder.create(16000)
    expect(() => decoder.decode(Uint8Array.of(0xff, 0xff, 0xff))).toThrow()
    expect(decoder.decode(Uint8Array.from(encoder.encodeSilence())).length).toBe(320)
    decoder.close()
  })
})
