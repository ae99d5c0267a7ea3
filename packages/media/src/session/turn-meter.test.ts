import { describe, expect, it } from 'vitest'
import { TurnMeter } from './turn-meter.ts'

describe('the turn meter', () => {
  it('splits a delay where it happens', () => {
    const meter = new TurnMeter()
    meter.asked(1000, 1010)
    meter.answered(1210)
    expect(meter.sent(1230)).toEqual({ turn: 1, wireInMs: 10, botMs: 200, wireOutMs: 20 })
    expect(meter.sent(1250)).toBeUndefined()
  })

  it('counts from the last thing that the caller said', () => {
    const meter = new TurnMeter()
    meter.asked(0, 0)
    meter.asked(500, 500)
    meter.answered(600)
    expect(meter.sent(600)).toMatchObject({ botMs: 100 })
  })

  it('takes no sound for an answer that goes on, or that nobody asked for', () => {
    const meter = new TurnMeter()
    meter.answered(0)
    expect(meter.sent(0)).toBeUndefined()
    meter.asked(100, 100)
    meter.answered(400)
    expect(meter.sent(400)).toBeUndefined()
    meter.answered(1000)
    expect(meter.sent(1000)).toMatchObject({ turn: 1, botMs: 900 })
  })

  it('numbers the turns and rounds to a tenth', () => {
    const meter = new TurnMeter()
    for (const turn of [1, 2, 3]) {
      const at = turn * 10_000
      meter.asked(at, at + 1.2345)
      meter.answered(at + 50)
      expect(meter.sent(at + 60)).toEqual({ turn, wireInMs: 1.2, botMs: 48.8, wireOutMs: 10 })
    }
  })

  it('never tells a negative time', () => {
    const meter = new TurnMeter()
    meter.asked(100, 90)
    meter.answered(80)
    expect(meter.sent(70)).toEqual({ turn: 1, wireInMs: 0, botMs: 0, wireOutMs: 0 })
  })

  it('takes what follows an interruption for an answer of its own', () => {
    const meter = new TurnMeter()
    meter.asked(0, 0)
    meter.answered(100)
    meter.sent(110)
    meter.asked(200, 201)
    meter.interrupted()
    meter.answered(231)
    expect(meter.sent(240)).toEqual({ turn: 2, wireInMs: 1, botMs: 30, wireOutMs: 9 })
  })
})
