import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Intake } from './intake.ts'

const RATE = 16_000
const FRAME = 320

function setup() {
  const sent: { capturedAt: number; samples: Int16Array }[] = []
  const intake = new Intake(RATE, (capturedAt, samples) => sent.push({ capturedAt, samples }))
  const push = (index: number) => intake.push(index * 20, new Int16Array(FRAME).fill(index))
  return { intake, sent, push }
}

describe('the intake', () => {
  it('passes sound on at once', () => {
    const { sent, push } = setup()
    push(3)
    expect(sent).toEqual([{ capturedAt: 60, samples: new Int16Array(FRAME).fill(3) }])
  })

  it('has half a second on its way, keeps one more, and drops the oldest beyond', () => {
    const { intake, sent, push } = setup()
    for (let index = 0; index < 100; index += 1) push(index)
    expect(sent).toHaveLength(25)
    expect(intake.receivedMs).toBe(2000)
    expect(intake.droppedMs).toBe(500)
    expect(intake.confirm(25)).toBe(true)
    // The gap shows: 25 to 49 are gone.
    expect(sent.slice(25).map(({ capturedAt }) => capturedAt / 20)).toEqual(
      Array.from({ length: 25 }, (_, index) => 50 + index),
    )
    intake.confirm(50)
    expect(sent).toHaveLength(75)
    expect(intake.droppedMs).toBe(500)
  })

  it('does not believe in frames that it never sent, nor in older news', () => {
    const { intake, sent, push } = setup()
    for (let index = 0; index < 30; index += 1) push(index)
    expect(intake.confirm(26)).toBe(false)
    expect(intake.confirm(5)).toBe(true)
    expect(sent).toHaveLength(30)
    expect(intake.confirm(0)).toBe(true)
    push(30)
    expect(sent).toHaveLength(30)
  })

  it('cuts long sound into pieces of 40 ms with their own times', () => {
    const { intake, sent } = setup()
    intake.push(1000, new Int16Array(2 * 640 + 100))
    expect(sent.map(({ capturedAt, samples }) => [capturedAt, samples.length])).toEqual([
      [1000, 640],
      [1040, 640],
      [1080, 100],
    ])
    intake.push(2000, new Int16Array(0))
    expect(sent).toHaveLength(3)
  })

  it('accounts for every sample: sent, waiting or dropped, within its bounds', () => {
    const event = fc.oneof(
      fc.record({ length: fc.integer({ min: 0, max: 5000 }) }),
      fc.record({ heard: fc.integer({ min: 0, max: 30 }) }),
    )
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        let sentSamples = 0
        let frames = 0
        let heard = 0
        let received = 0
        const intake = new Intake(1000, (_, samples) => {
          sentSamples += samples.length
          frames += 1
        })
        for (const next of events) {
          if ('length' in next) {
            intake.push(0, new Int16Array(next.length))
            received += next.length
          } else if (intake.confirm(heard + next.heard)) heard += next.heard
          expect(frames - heard).toBeLessThanOrEqual(25)
        }
        const waiting = received - sentSamples - intake.droppedMs
        expect(intake.receivedMs).toBe(received)
        expect(waiting).toBeGreaterThanOrEqual(0)
        expect(waiting).toBeLessThanOrEqual(50 * 40)
      }),
      { numRuns: 200 },
    )
  })
})
