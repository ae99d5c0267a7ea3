import { expect, test } from 'vitest'
import { PcmChunker } from './pcm-chunker.ts'

function chunked(
  fromRate: number,
  toRate: number,
  samples: Float32Array,
  block = 128,
): readonly Int16Array[] {
  const chunks: Int16Array[] = []
  const chunker = new PcmChunker(fromRate, toRate, toRate / 50, (chunk) => chunks.push(chunk))
  for (let at = 0; at < samples.length; at += block) chunker.push(samples.subarray(at, at + block))
  return chunks
}

const tone = (rate: number, hertz: number, seconds = 1): Float32Array =>
  Float32Array.from({ length: rate * seconds }, (_, n) => Math.sin((2 * Math.PI * hertz * n) / rate))

const rms = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + (sample / 0x7fff) ** 2, 0) / samples.length)

test('sound at the wanted rate is only cut and converted', () => {
  const chunks = chunked(
    16_000,
    16_000,
    Float32Array.from({ length: 640 }, (_, n) => (n % 2 === 0 ? 1 : -1)),
  )
  expect(chunks.map((chunk) => chunk.length)).toEqual([320, 320])
  expect([...(chunks[0] ?? [])].slice(0, 4)).toEqual([0x7fff, -0x8000, 0x7fff, -0x8000])
})

test.each([48_000, 44_100, 24_000, 16_000])('one second at %i Hz is one second at 16000 Hz', (rate) => {
  expect(chunked(rate, 16_000, tone(rate, 440))).toHaveLength(50)
})

test('a voice passes, and what lies far above the new band does not', () => {
  const [, voice] = chunked(48_000, 16_000, tone(48_000, 500))
  const [, hiss] = chunked(48_000, 16_000, tone(48_000, 16_000))
  expect(rms(voice ?? new Int16Array(1))).toBeGreaterThan(0.65)
  expect(rms(hiss ?? new Int16Array(1))).toBeLessThan(0.05)
})

test('sound that is too loud is clipped, not wrapped', () => {
  const [chunk] = chunked(16_000, 16_000, new Float32Array(320).fill(3))
  expect(chunk?.every((sample) => sample === 0x7fff)).toBe(true)
})

test('a chunk stays as it was when the next one is made', () => {
  const chunks = chunked(
    16_000,
    16_000,
    Float32Array.from({ length: 640 }, (_, n) => (n < 320 ? 1 : 0)),
  )
  expect(chunks[0]?.[0]).toBe(0x7fff)
  expect(chunks[1]?.[0]).toBe(0)
})
