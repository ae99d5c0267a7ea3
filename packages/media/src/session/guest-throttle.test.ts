import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../testing/until.ts'
import { GuestThrottle } from './guest-throttle.ts'

const MB = 1024 * 1024

let throttle: GuestThrottle

function setup() {
  const state = { now: 0, backlog: 0, calls: [] as string[] }
  throttle = new GuestThrottle({
    clock: () => state.now,
    backlog: () => state.backlog,
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

  it('makes a bot wait until its client has taken most of what it sent', async () => {
    const state = setup()
    state.backlog = 2 * MB
    throttle.count()
    expect(state.calls).toEqual(['pause'])
    state.backlog = MB / 2
    state.now = 1000
    await until('it was asked again', () => state.calls.length > 1)
    expect(throttle.holding).toBe(true)
    state.backlog = 0
    await until('the bot may go on', () => !throttle.holding)
    expect(state.calls.at(-1)).toBe('resume')
  })

  it('gives up on a client that takes nothing', async () => {
    const state = setup()
    state.backlog = 2 * MB
    throttle.count()
    state.now = 15_000
    await until('it gave up', () => state.calls.length > 1)
    expect(state.calls.at(-1)).toBe('The bot sent more messages than its client could take.')
  })
})
