import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../testing/until.ts'
import { GuestThrottle } from './guest-throttle.ts'

let throttle: GuestThrottle

function setup() {
  const state = { now: 0, calls: [] as string[] }
  throttle = new GuestThrottle({
    clock: () => state.now,
    pause: () => state.calls.push('pause'),
    resume: () => state.calls.push('resume'),
    flooded: (message) => state.calls.push(message),
  })
  return state
}

function say(count: number): void {
  for (let said = 0; said < count; said += 1) throttle.count()
}

afterEach(() => throttle.close())

describe('the throttle of a guest', () => {
  it('leaves an honest bot alone', () => {
    const state = setup()
    say(499)
    expect(state.calls).toEqual([])
    expect(throttle.holding).toBe(false)
  })

  it('makes a bot wait once that says too much, and lets it go on', async () => {
    const state = setup()
    say(600)
    expect(state.calls).toEqual(['pause'])
    expect(throttle.holding).toBe(true)
    await until('the bot may go on', () => !throttle.holding)
    expect(state.calls).toEqual(['pause', 'resume'])
  })

  it('gives up on a bot that never stops', () => {
    const state = setup()
    for (let window = 0; window <= 30; window += 1) {
      state.now = window * 100
      say(500)
    }
    expect(state.calls).toContain('The bot sent messages without end: more than 5000 a second.')
  })
})
