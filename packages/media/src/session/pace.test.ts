import { describe, expect, it } from 'vitest'
import { Pace } from './pace.ts'

describe('the pace', () => {
  it('allows the first step at once, and the next a step later or a little before', () => {
    const pace = new Pace()
    pace.begin(1000)
    expect(pace.allows(1000)).toBe(true)
    pace.made(1000)
    expect(pace.allows(1009)).toBe(false)
    expect(pace.allows(1010)).toBe(true)
  })

  it('does not drift when steps come early or late', () => {
    const pace = new Pace()
    pace.begin(1000)
    pace.made(1000)
    for (const late of [-10, 9, -3, 15, 0]) {
      const now = 1020 + late
      expect(pace.allows(now)).toBe(true)
    }
    pace.made(1012)
    pace.made(1049)
    expect(pace.allows(1049)).toBe(false)
    expect(pace.allows(1050)).toBe(true)
  })

  it('is patient for a step before it takes sound for missing', () => {
    const pace = new Pace()
    pace.begin(1000)
    pace.made(1000)
    expect(pace.demands(1039)).toBe(false)
    expect(pace.demands(1040)).toBe(true)
  })

  it('makes up for a stall, up to a limit', () => {
    const pace = new Pace()
    pace.begin(1000)
    pace.made(1000)
    let steps = 0
    while (pace.allows(5000)) {
      pace.made(5000)
      steps += 1
    }
    expect(steps).toBe(6)
  })

  it('makes up for nothing of a pause', () => {
    const pace = new Pace()
    pace.begin(1000)
    pace.made(1000)
    pace.begin(5000)
    pace.made(5000)
    expect(pace.allows(5000)).toBe(false)
  })
})
