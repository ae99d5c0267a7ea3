import { describe, expect, it } from 'vitest'
import { GuestPulse } from './guest-pulse.ts'

const MB = 1024 * 1024

describe('the pulse of a guest', () => {
  it('asks with a new number each time, while there is an answer', () => {
    const pulse = new GuestPulse(0, MB)
    expect(pulse.beat(1000)).toBe(1)
    expect(pulse.beat(30_000)).toBe(2)
    pulse.alive(30_000)
    expect(pulse.beat(60_000)).toBe(3)
  })

  it('gives up after half a minute of silence', () => {
    const pulse = new GuestPulse(0, MB)
    pulse.alive(5000)
    expect(pulse.beat(35_001)).toEqual({
      cause: 'bot_unresponsive',
      message: 'The bot did not react for 30 seconds.',
    })
  })

  it('weighs the guest', () => {
    const pulse = new GuestPulse(0, 100 * MB)
    expect(pulse.weigh(100 * MB)).toBeUndefined()
    expect(pulse.weigh(120 * MB)).toEqual({
      cause: 'bot_out_of_memory',
      message: 'The bot used 120 MB of memory; 100 MB are allowed.',
    })
  })
})
