import { describe, expect, it } from 'vitest'
import { FloodGate } from './flood-gate.ts'

/** Says so many messages at one time, and tells how many were admitted without a wait. */
function say(gate: FloodGate, now: number, count: number): number {
  let admitted = 0
  for (let said = 0; said < count; said += 1) if (gate.admit(now)) admitted += 1
  return admitted
}

describe('the flood gate', () => {
  it('admits 500 messages in a tenth of a second, and then asks to wait for the rest of it', () => {
    const gate = new FloodGate()
    expect(say(gate, 1000, 600)).toBe(499)
    expect(gate.waitMs(1030)).toBe(70)
    expect(gate.waitMs(1200)).toBe(1)
    expect(say(gate, 1100, 10)).toBe(10)
  })

  it('takes a bot that fills every window for three seconds for broken', () => {
    const gate = new FloodGate()
    for (let window = 0; window < 30; window += 1) {
      say(gate, window * 100, 500)
      expect(gate.flooded).toBe(false)
    }
    say(gate, 3000, 1)
    expect(gate.flooded).toBe(true)
  })

  it('forgives a bot that pauses, or slows down, in between', () => {
    const gate = new FloodGate()
    for (let window = 0; window < 29; window += 1) say(gate, window * 100, 500)
    say(gate, 2900, 10)
    for (let window = 30; window < 58; window += 1) say(gate, window * 100, 500)
    say(gate, 10_000, 500)
    say(gate, 10_100, 500)
    expect(gate.flooded).toBe(false)
  })
})
