import { isVoiced } from '@botcli/audio'
import { expect, it } from 'vitest'
import { speechLike } from './speech.ts'

function voicedShare(samples: Int16Array, rate: number): number {
  const steps = Math.floor(samples.length / (rate / 50))
  const voiced = Array.from({ length: steps }, (_, at) =>
    isVoiced(samples.subarray((at * rate) / 50, ((at + 1) * rate) / 50)),
  )
  return voiced.filter(Boolean).length / steps
}

it.each([8000, 16_000, 24_000])(
  'is built like speech at %s Hz: voiced, with pauses, never clipped',
  (rate) => {
    const samples = speechLike(3000, rate)
    expect(samples.length).toBe(rate * 3)
    expect(voicedShare(samples, rate)).toBeGreaterThan(0.6)
    expect(voicedShare(samples, rate)).toBeLessThan(0.99)
    expect(samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThan(20_000)
  },
)

it('is the same for the same seed, and another for another', () => {
  expect(speechLike(500, 8000, 4)).toEqual(speechLike(500, 8000, 4))
  expect(speechLike(500, 8000, 4)).not.toEqual(speechLike(500, 8000, 5))
})
