import { describe, expect, it } from 'vitest'
import { Resampler } from './resampler.ts'

function tone(frequency: number, rate: number, seconds: number, amplitude = 20000): Int16Array {
  const count = Math.round(rate * seconds)
  return Int16Array.from({ length: count }, (_, i) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * frequency * i) / rate)),
  )
}

/** Strength of one frequency in decibels below `amplitude`, by a windowed correlation. */
function level(samples: Int16Array, frequency: number, rate: number, amplitude = 20000): number {
  let re = 0
  let im = 0
  let weight = 0
  samples.forEach((sample, i) => {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / samples.length)
    const angle = (2 * Math.PI * frequency * i) / rate
    re += window * sample * Math.cos(angle)
    im += window * sample * Math.sin(angle)
    weight += window
  })
  return 20 * Math.log10((2 * Math.hypot(re, im)) / weight / amplitude + 1e-9)
}

function inChunks(resampler: Resampler, samples: Int16Array, size: number): Int16Array {
  const parts: number[] = []
  for (let at = 0; at < samples.length; at += size)
    parts.push(...resampler.process(samples.subarray(at, at + size)))
  return Int16Array.from(parts)
}

const PAIRS = [
  [48000, 16000],
  [16000, 48000],
  [24000, 48000],
  [8000, 16000],
  [16000, 8000],
  [44100, 16000],
  [22050, 48000],
  [24000, 16000],
  [48000, 8000],
] as const

describe('Resampler', () => {
  it.each(PAIRS)('keeps tones up to 0.85 of the lower Nyquist frequency from %i to %i', (from, to) => {
    const nyquist = Math.min(from, to) / 2
    for (const part of [0.05, 0.4, 0.85]) {
      const out = new Resampler(from, to).process(tone(nyquist * part, from, 0.5)).subarray(to / 50)
      expect(Math.abs(level(out, nyquist * part, to))).toBeLessThan(1)
    }
  })

  it.each(PAIRS.filter(([from, to]) => to < from))(
    'removes what would fold back from %i to %i',
    (from, to) => {
      for (const part of [1.12, 1.3, 1.7]) {
        const frequency = (to / 2) * part
        if (frequency >= from / 2) continue
        const out = new Resampler(from, to).process(tone(frequency, from, 0.5)).subarray(to / 50)
        expect(level(out, to - frequency, to)).toBeLessThan(-70)
      }
    },
  )

  it.each(PAIRS.filter(([from, to]) => to > from))('adds no images from %i to %i', (from, to) => {
    const frequency = from * 0.2
    const out = new Resampler(from, to).process(tone(frequency, from, 0.5)).subarray(to / 50)
    expect(level(out, from - frequency, to)).toBeLessThan(-70)
  })

  it.each(PAIRS)('gives 20 ms for every 20 ms from %i to %i', (from, to) => {
    const resampler = new Resampler(from, to)
    for (let i = 0; i < 10; i += 1) expect(resampler.process(new Int16Array(from / 50)).length).toBe(to / 50)
  })

  it('gives the same samples whatever the size of the chunks', () => {
    const input = tone(700, 44100, 0.2)
    const whole = new Resampler(44100, 16000).process(input)
    for (const size of [1, 7, 441, 1000]) {
      expect(inChunks(new Resampler(44100, 16000), input, size)).toEqual(whole)
    }
  })

  it('clips instead of wrapping round', () => {
    const square = Int16Array.from({ length: 4800 }, (_, i) => (i % 48 < 24 ? 32767 : -32768))
    const out = new Resampler(48000, 24000).process(square)
    for (let i = 200; i < out.length; i += 1)
      expect(Math.abs((out[i] ?? 0) - (out[i - 1] ?? 0))).toBeLessThan(65000)
    expect(Math.max(...out)).toBe(32767)
  })

  it('hands back the very samples when the rates are equal', () => {
    const input = tone(440, 16000, 0.02)
    expect(new Resampler(16000, 16000).process(input)).toBe(input)
  })

  it('starts afresh after reset', () => {
    const resampler = new Resampler(44100, 16000)
    const input = tone(440, 44100, 0.05).subarray(0, 2000)
    const first = resampler.process(input)
    resampler.reset()
    expect(resampler.process(input)).toEqual(first)
  })

  it('refuses rates that it cannot convert', () => {
    for (const rate of [0, 7950, 48050, 16001, Number.NaN]) {
      expect(() => new Resampler(rate, 16000)).toThrow(/multiple of 50/)
    }
  })
})
