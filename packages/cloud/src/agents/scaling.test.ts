import fc from 'fast-check'
import { expect, it } from 'vitest'
import { wantedInstances } from './scaling.ts'

it.each([
  ['nobody calls, nothing is reserved', 0, 10, 1, 0, 0],
  ['nobody calls, some are reserved', 2, 10, 1, 0, 2],
  ['one caller, and a warm one for the next', 0, 10, 1, 1, 2],
  ['callers on the reserved ones', 3, 10, 1, 2, 3],
  ['callers on all reserved ones', 3, 10, 1, 3, 4],
  ['as many as there may be', 0, 3, 1, 3, 3],
  ['room left in an instance of several', 0, 10, 4, 5, 2],
  ['full instances of several', 0, 10, 4, 8, 3],
])('%s', (_, minAgents, maxAgents, sessionsPerInstance, sessions, wanted) => {
  expect(wantedInstances({ minAgents, maxAgents, sessionsPerInstance, sessions })).toBe(wanted)
})

it('holds its limits, has a place for every session that is let in, and one more while there is room', () => {
  const number = (min: number, max: number) => fc.integer({ min, max })
  fc.assert(
    fc.property(
      number(0, 20),
      number(0, 20),
      number(1, 10),
      number(0, 300),
      (minAgents, more, each, some) => {
        const maxAgents = Math.max(1, minAgents + more)
        const sessions = Math.min(some, maxAgents * each)
        const wanted = wantedInstances({ minAgents, maxAgents, sessionsPerInstance: each, sessions })
        expect(wanted).toBeGreaterThanOrEqual(minAgents)
        expect(wanted).toBeLessThanOrEqual(maxAgents)
        expect(wanted * each).toBeGreaterThanOrEqual(sessions)
        if (sessions > 0 && wanted < maxAgents) expect(wanted * each).toBeGreaterThan(sessions)
      },
    ),
  )
})
