import { expect, test } from 'vitest'
import { otherWays } from './other-ways.ts'

test('ways that a page cannot use itself are named', () => {
  expect(otherWays(['webrtc', 'websocket'])).toBe('')
  expect(otherWays(['webrtc', 'telephony_b'])).toMatch(/phone/)
  expect(otherWays(['room'])).toMatch(/room/)
  expect(otherWays(['room', 'telephony_a'])).toMatch(/phone.*room/)
})
