import { describe, expect, it } from 'vitest'
import { FloodGate } from './flood-gate.ts'

/** Says so many messages at one time, and tells how many were admitted. */
function say(gate: FloodGate, now: number, count: number): number {
  let admitted = 0
  for (let said = 0; said < count; said += 1) if (gate.admit(now)) admitted += 1
  return admitted
}

describe('the flood gate', () => {
  it('admits 5000 messages a second', () => {
    const gate = new FloodGate()
    expect(say(gate, 1000, 6000)).toBe(5000)
    expect(say(gate, 1900, 10)).toBe(0)
    expect(say(gate, 2000, 10)).toBe(10)
  })

  it('takes a bot that fills every window for three seconds for broken', () => {
    const gate = new FloodGate()
    for (let window = 0; window < 3; window += 1) {
      say(gate, window * 1000, 5000)
      expect(gate.flooded).toBe(false)
    }
    say(gate, 3000, 1)
    expect(gate.flooded).toBe(true)
  })

  it('forgives a bot that pauses, or slows down, in between', () => {
    const gate = new FloodGate()
    say(gate, 0, 5000)
    say(gate, 1000, 5000)
    say(gate, 2000, 10)
    say(gate, 3000, 5000)
    say(gate, 4000, 5000)
    say(gate, 10_000, 5000)
    say(gate, 11_000, 1)
    expect(gate.flooded).toBe(false)
  })
})
