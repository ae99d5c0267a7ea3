import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Playout } from './playout.ts'

const RATE = 16_000
const STEP = 320
const CREDIT = 6400
const LONGEST = 1600

/** Samples that count up, so that each can be told from the others. */
function counted(length: number, from = 1): Int16Array {
  return Int16Array.from({ length }, (_, index) => from + index)
}

/** Sends sound in pieces of 100 ms, as a guest must. False when one of them was refused. */
function feed(playout: Playout, epoch: number, samples: Int16Array): boolean {
  for (let at = 0; at < samples.length; at += LONGEST) {
    if (!playout.accept(epoch, samples.subarray(at, at + LONGEST))) return false
  }
  return true
}

describe('the playout', () => {
  it('takes 100 ms at once, and no more, of any epoch', () => {
    const playout = new Playout(RATE)
    expect(playout.accept(0, counted(LONGEST))).toBe(true)
    expect(playout.accept(0, counted(LONGEST + 1))).toBe(false)
    playout.clear(1)
    expect(playout.accept(0, counted(LONGEST + 1))).toBe(false)
  })

  it('goes from one epoch to the next, and to no other', () => {
    const playout = new Playout(RATE)
    expect(playout.clear(1)).toBe(0)
    for (const epoch of [0, 1, 3, 7]) expect(playout.clear(epoch)).toBeUndefined()
    expect(playout.position.epoch).toBe(1)
    expect(playout.clear(2)).toBe(0)
  })

  it('grants 400 ms ahead of the ear', () => {
    const playout = new Playout(RATE)
    expect(playout.position).toEqual({ epoch: 0, played: 0, limit: CREDIT })
    expect(feed(playout, 0, counted(CREDIT))).toBe(true)
    expect(playout.accept(0, counted(1))).toBe(false)
  })

  it('grants more as it plays', () => {
    const playout = new Playout(RATE)
    feed(playout, 0, counted(CREDIT))
    playout.next()
    expect(playout.position).toEqual({ epoch: 0, played: STEP, limit: CREDIT + STEP })
    expect(playout.accept(0, counted(STEP))).toBe(true)
    expect(playout.accept(0, counted(1))).toBe(false)
  })

  it('begins at once, and then plays each step', () => {
    const playout = new Playout(RATE)
    playout.accept(0, counted(STEP))
    expect(playout.next()).toEqual(counted(STEP))
    playout.accept(0, counted(STEP, 1 + STEP))
    expect(playout.next()).toEqual(counted(STEP, 1 + STEP))
    expect(playout.idle).toBe(true)
    expect(playout.next()).toBeUndefined()
  })

  it('plays a tail that is shorter than a step, filled up, and counts only what it is', () => {
    const playout = new Playout(RATE)
    playout.accept(0, counted(2 * STEP + 100))
    playout.next()
    playout.next()
    expect(playout.next()).toBeUndefined()
    const tail = playout.next()
    expect(tail).toHaveLength(STEP)
    expect(tail?.subarray(0, 100)).toEqual(counted(100, 1 + 2 * STEP))
    expect(tail?.subarray(100).every((sample) => sample === 0)).toBe(true)
    expect(playout.position.played).toBe(2 * STEP + 100)
    expect(playout.idle).toBe(true)
  })

  it('gives a bot that ran dry in the middle a head start from then on', () => {
    const playout = new Playout(RATE)
    playout.accept(0, counted(STEP))
    playout.next()
    expect(playout.next()).toBeUndefined()
    playout.accept(0, counted(STEP))
    expect(playout.next()).toBeUndefined()
    playout.accept(0, counted(STEP))
    expect(playout.next()).toEqual(counted(STEP))
    expect(playout.idle).toBe(false)
  })

  it('waits one step, and no more, for the second half of the head start', () => {
    const playout = new Playout(RATE)
    playout.accept(0, counted(STEP))
    playout.next()
    playout.next()
    playout.accept(0, counted(STEP))
    expect(playout.next()).toBeUndefined()
    expect(playout.next()).toEqual(counted(STEP))
  })

  it('needs no head start any more after a sentence without a hiccup', () => {
    const playout = new Playout(RATE)
    const sentence = () => {
      playout.accept(0, counted(STEP))
      const begins = playout.ready
      while (!playout.idle) playout.next()
      for (let pause = 0; pause < 10; pause += 1) playout.next()
      return begins
    }
    playout.accept(0, counted(STEP))
    playout.next()
    playout.next()
    expect(sentence()).toBe(false)
    expect(sentence()).toBe(false)
    expect(sentence()).toBe(true)
  })

  it('takes a pause between two sentences for no hiccup', () => {
    const playout = new Playout(RATE)
    playout.accept(0, counted(STEP))
    playout.next()
    for (let pause = 0; pause < 10; pause += 1) playout.next()
    playout.accept(0, counted(STEP))
    expect(playout.next()).toEqual(counted(STEP))
  })

  it('forgets everything on clear, and tells what was played', () => {
    const playout = new Playout(RATE)
    feed(playout, 0, counted(CREDIT))
    playout.next()
    expect(playout.clear(1)).toBe(STEP)
    expect(playout.idle).toBe(true)
    expect(playout.next()).toBeUndefined()
    expect(playout.position).toEqual({ epoch: 1, played: 0, limit: CREDIT })
  })

  it('leaves out what is late, and refuses what comes from the future', () => {
    const playout = new Playout(RATE)
    playout.clear(1)
    playout.clear(2)
    expect(feed(playout, 1, counted(100 * CREDIT))).toBe(true)
    expect(playout.idle).toBe(true)
    expect(playout.accept(3, counted(1))).toBe(false)
  })

  it('plays everything that it accepted, in order and once, whatever the pieces', () => {
    const pieces = fc.array(fc.oneof(fc.integer({ min: 0, max: 2000 }), fc.constant('step' as const)), {
      maxLength: 100,
    })
    fc.assert(
      fc.property(pieces, (events) => {
        const playout = new Playout(RATE)
        const sent: number[] = []
        const heard: number[] = []
        const step = () => {
          const { played } = playout.position
          const samples = playout.next()
          if (samples !== undefined) heard.push(...samples.subarray(0, playout.position.played - played))
        }
        for (const event of events) {
          if (event === 'step') step()
          else if (sent.length + event <= playout.position.limit) {
            const samples = counted(event, sent.length % 30_000)
            expect(feed(playout, 0, samples)).toBe(true)
            sent.push(...samples)
          }
        }
        // Each tail may take a step of waiting.
        for (let left = 0; left < 100 && !playout.idle; left += 1) step()
        expect(heard).toEqual(sent)
        expect(playout.position.played).toBe(sent.length)
      }),
      { numRuns: 200 },
    )
  })
})
