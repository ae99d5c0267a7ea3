import { describe, expect, it } from 'vitest'
import { Ticker } from './ticker.ts'

/** A clock that moves only when told to, with at most one timer running on it. */
class FakeTime {
  time = 0
  timer: { at: number; callback: () => void } | undefined

  now = (): number => this.time
  setTimer = (callback: () => void, ms: number): (() => void) => {
    const timer = { at: this.time + ms, callback }
    this.timer = timer
    return () => {
      if (this.timer === timer) this.timer = undefined
    }
  }

  /** Lets the timer fire at the time at which it is due, plus a delay. */
  fire(lateMs = 0): void {
    const timer = this.timer
    if (timer === undefined) throw new Error('no timer runs')
    this.timer = undefined
    this.time = timer.at + lateMs
    timer.callback()
  }
}

describe('Ticker', () => {
  it('runs only while somebody listens', () => {
    const time = new FakeTime()
    const ticker = new Ticker({ intervalMs: 20, now: time.now, setTimer: time.setTimer })
    expect(time.timer).toBeUndefined()
    const leave = ticker.add(() => {})
    const leaveToo = ticker.add(() => {})
    leave()
    expect(time.timer).toBeDefined()
    leaveToo()
    leaveToo()
    expect(time.timer).toBeUndefined()
  })

  it('does not drift when timers are late', () => {
    const time = new FakeTime()
    const ticker = new Ticker({ intervalMs: 20, now: time.now, setTimer: time.setTimer })
    let steps = 0
    ticker.add(() => {
      steps += 1
    })
    for (let i = 0; i < 500; i += 1) time.fire((i * 3) % 9)
    expect(steps).toBe(Math.floor(time.time / 20))
  })

  it('makes up for a short stall and skips most of a long one', () => {
    const time = new FakeTime()
    const ticker = new Ticker({ intervalMs: 20, now: time.now, setTimer: time.setTimer })
    let steps = 0
    ticker.add(() => {
      steps += 1
    })
    time.fire(60)
    expect(steps).toBe(4)
    time.fire(2000)
    expect(steps).toBe(9)
    expect((time.timer?.at ?? 0) - time.time).toBe(20)
  })

  it('keeps the others going when a subscriber throws', () => {
    const time = new FakeTime()
    const errors: unknown[] = []
    const ticker = new Ticker({
      intervalMs: 20,
      now: time.now,
      setTimer: time.setTimer,
      onError: (error) => errors.push(error),
    })
    let steps = 0
    ticker.add(() => {
      throw new Error('broken')
    })
    ticker.add(() => {
      steps += 1
    })
    time.fire()
    time.fire()
    expect(steps).toBe(2)
    expect(errors.map(String)).toEqual(['Error: broken', 'Error: broken'])
  })

  it('lets subscribers leave and join during a step', () => {
    const time = new FakeTime()
    const ticker = new Ticker({ intervalMs: 20, now: time.now, setTimer: time.setTimer })
    const seen: string[] = []
    const leave = ticker.add(() => {
      seen.push('first')
      leave()
      leaveSecond()
      ticker.add(() => seen.push('third'))
    })
    const leaveSecond = ticker.add(() => seen.push('second'))
    time.fire()
    expect(seen).toEqual(['first'])
    time.fire()
    expect(seen).toEqual(['first', 'third'])
  })

  it('stops for good on close, also from within a step', () => {
    const time = new FakeTime()
    const ticker = new Ticker({ intervalMs: 20, now: time.now, setTimer: time.setTimer })
    ticker.add(() => ticker.close())
    time.fire()
    expect(time.timer).toBeUndefined()
  })

  it('ticks on the real clock by default', async () => {
    const ticker = new Ticker({ intervalMs: 1 })
    await new Promise<void>((resolve) => {
      let steps = 0
      ticker.add(() => {
        steps += 1
        if (steps === 3) resolve()
      })
    })
    ticker.close()
  })
})
