import { describe, expect, it } from 'vitest'
import { isVoiced, msToSamples, samplesToMs, silence } from './pcm.ts'

describe('isVoiced', () => {
  it('hears a tone and not silence, noise of a quiet room, or nothing', () => {
    const tone = Int16Array.from({ length: 320 }, (_, i) => 3000 * Math.sin(i / 5))
    const hiss = Int16Array.from({ length: 320 }, (_, i) => ((i * 7919) % 200) - 100)
    expect([tone, hiss, silence(320), silence(0)].map((samples) => isVoiced(samples))).toEqual([
      true,
      false,
      false,
      false,
    ])
  })

  it('takes another threshold', () => {
    expect(isVoiced(new Int16Array(10).fill(50), 40)).toBe(true)
    expect(isVoiced(new Int16Array(10).fill(50), 60)).toBe(false)
  })
})

describe('time and samples', () => {
  it('turn into each other', () => {
    expect(msToSamples(20, 44100)).toBe(882)
    expect(samplesToMs(882, 44100)).toBe(20)
  })
})
