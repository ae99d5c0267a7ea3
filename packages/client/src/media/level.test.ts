import { expect, test } from 'vitest'
import { levelOf } from './level.ts'

const steady = (value: number): Float32Array => new Float32Array(1024).fill(value)

test('silence is 0 and the loudest sound is 1', () => {
  expect(levelOf(steady(0))).toBe(0)
  expect(levelOf(steady(0.0001))).toBe(0)
  expect(levelOf(steady(1))).toBe(1)
})

test('louder is higher, in equal steps for equal factors', () => {
  const [quiet, middle, loud] = [0.01, 0.05, 0.25].map((value) => levelOf(steady(value)))
  expect(quiet).toBeGreaterThan(0)
  expect((middle ?? 0) - (quiet ?? 0)).toBeCloseTo((loud ?? 0) - (middle ?? 0))
  expect(loud).toBeLessThan(1)
})
