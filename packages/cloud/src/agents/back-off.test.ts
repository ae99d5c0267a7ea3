import { expect, it } from 'vitest'
import { BackOff } from './back-off.ts'

it('waits twice as long each time, up to a minute, and forgives after a long life', () => {
  const backOff = new BackOff()
  expect(backOff.notBefore).toBe(0)
  let now = 1000
  const waits = Array.from({ length: 9 }, () => {
    backOff.failed(now, 0)
    // Another one, at the same time.
    backOff.failed(now, 0)
    const wait = backOff.notBefore - now
    now = backOff.notBefore
    return wait
  })
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000])
  expect(backOff.failures).toBe(9)
  backOff.failed(now, 60_000)
  expect([backOff.failures, backOff.notBefore]).toEqual([1, now + 500])
  expect([60_499, 60_500].map((later) => backOff.isForgiven(now + later))).toEqual([false, true])
})
