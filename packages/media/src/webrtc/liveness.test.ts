import { describe, expect, it } from 'vitest'
import { Liveness } from './liveness.ts'

class FakeTime {
  now = 0
  #timers = new Set<{ at: number; callback: () => void }>()

  get timers(): number {
    return this.#timers.size
  }

  setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { at: this.now + ms, callback }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  pass(ms: number): void {
    const end = this.now + ms
    for (;;) {
      const [next] = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers.delete(next)
      this.now = next.at
      next.callback()
    }
    this.now = end
  }
}

function caller() {
  const time = new FakeTime()
  const log: string[] = []
  const liveness = new Liveness({
    clock: () => time.now,
    setTimer: time.setTimer,
    limits: { connectMs: 60_000, silenceMs: 20_000, graceMs: 4_000 },
    events: {
      connected: () => log.push('connected'),
      disconnected: () => log.push('disconnected'),
      gone: (cause) => log.push(`gone ${cause} at ${time.now}`),
    },
  })
  liveness.renewed()
  return { time, log, liveness }
}

describe('Liveness', () => {
  it('keeps a caller who is heard', () => {
    const { time, log, liveness } = caller()
    liveness.peerUp()
    for (let i = 0; i < 100; i += 1) {
      time.pass(15_000)
      liveness.heard()
    }
    expect(log).toEqual(['connected'])
    expect(time.timers).toBe(1)
  })

  it('lets a silent caller go within half a minute', () => {
    const { time, log, liveness } = caller()
    liveness.peerUp()
    time.pass(60_000)
    expect(log).toEqual(['connected', 'disconnected', 'gone client_lost at 24000'])
    expect(time.timers).toBe(0)
  })

  it('takes back a caller who is heard again in time', () => {
    const { time, log, liveness } = caller()
    liveness.peerUp()
    time.pass(22_000)
    liveness.heard()
    time.pass(10_000)
    expect(log).toEqual(['connected', 'disconnected', 'connected'])
  })

  it('lets a caller go who left and did not come back', () => {
    const { time, log, liveness } = caller()
    liveness.peerUp()
    liveness.peerOver('client_left', 'left')
    liveness.peerOver('client_lost', 'again')
    time.pass(60_000)
    expect(log).toEqual(['connected', 'disconnected', 'gone client_left at 4000'])
  })

  it('keeps a caller who comes back with a new connection', () => {
    const { time, log, liveness } = caller()
    liveness.peerUp()
    liveness.peerOver('client_left', 'left')
    time.pass(3000)
    liveness.renewed()
    time.pass(10_000)
    liveness.peerUp()
    time.pass(10_000)
    expect(log).toEqual(['connected', 'disconnected', 'connected'])
  })

  it('lets a caller go whose new connection never comes up', () => {
    const { time, log, liveness } = caller()
    liveness.peerUp()
    liveness.renewed()
    time.pass(60_000)
    expect(log).toEqual(['connected', 'disconnected', 'gone client_lost at 24000'])
  })

  it('tells of an interruption that mends itself', () => {
    const { time, log, liveness } = caller()
    liveness.peerUp()
    liveness.peerDown()
    time.pass(5000)
    liveness.peerUp()
    expect(log).toEqual(['connected', 'disconnected', 'connected'])
  })

  it('gives a first connection a minute', () => {
    const { time, log } = caller()
    time.pass(120_000)
    expect(log).toEqual(['gone client_lost at 64000'])
  })

  it('says and keeps nothing after close', () => {
    const { time, log, liveness } = caller()
    liveness.peerUp()
    liveness.peerOver('client_left', 'left')
    liveness.close()
    liveness.peerUp()
    liveness.peerDown()
    liveness.heard()
    liveness.renewed()
    time.pass(60_000)
    expect(log).toEqual(['connected', 'disconnected'])
    expect(time.timers).toBe(0)
  })
})
