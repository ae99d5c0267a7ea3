import { expect, test } from 'vitest'
import { Playout } from './playout.ts'

test('pieces that arrive in time are played without gaps', () => {
  const playout = new Playout()
  const first = playout.place(5, 0.02) ?? 0
  expect(first).toBeGreaterThan(5)
  expect(playout.place(5.02, 0.02)).toBeCloseTo(first + 0.02)
  // This one is late, but not later than the lead.
  expect(playout.place(first + 0.03, 0.02)).toBeCloseTo(first + 0.04)
})

test('after a pause the lead is taken anew', () => {
  const playout = new Playout()
  const lead = (playout.place(0, 0.02) ?? 0) - 0
  expect(playout.place(60, 0.02)).toBeCloseTo(60 + lead)
})

test('a network that proves unsteady gets a longer lead, within limits', () => {
  const playout = new Playout()
  const leads: number[] = []
  let now = 1
  for (let n = 0; n < 20; n += 1) {
    const start = playout.place(now, 0.02) ?? 0
    leads.push(start - now)
    // Each piece comes a little after the one before has ended.
    now = start + 0.02 + 0.05
  }
  expect(leads[1]).toBeGreaterThan(leads[0] ?? 0)
  expect(leads.at(-1)).toBeLessThan(0.25)
})

test('a sender that does not keep time cannot fill the memory', () => {
  const playout = new Playout()
  let placed = 0
  for (let n = 0; n < 10_000; n += 1) if (playout.place(0, 0.02) !== undefined) placed += 1
  expect(placed).toBeGreaterThan(100)
  expect(placed).toBeLessThan(1000)
})

test('after clearing, the next piece does not wait for the ones dropped', () => {
  const playout = new Playout()
  for (let n = 0; n < 100; n += 1) playout.place(0, 0.02)
  playout.clear()
  expect(playout.place(0, 0.02)).toBeLessThan(0.5)
})
