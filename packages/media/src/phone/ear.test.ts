import { beforeEach, expect, it } from 'vitest'
import { tone } from '../testing/tone.ts'
import type { CallHappening } from './call-events.ts'
import { Ear } from './ear.ts'

const RATE = 8000
let told: (CallHappening & { at: number })[]
let ear: Ear

beforeEach(() => {
  told = []
  ear = new Ear({
    rate: RATE,
    stepMs: 20,
    beganAt: 100,
    tell: (at, happening) => told.push({ at, ...happening }),
  })
})

/** Lets so much time pass. Gives the marks that were reached, with the time of each. */
function pass(ms: number): [string, number][] {
  const reached: [string, number][] = []
  for (let at = 0; at < ms; at += 20) for (const mark of ear.step()) reached.push([mark, ear.now])
  return reached
}

it('plays after a moment, and answers a mark when all before it was played', () => {
  ear.push(tone(RATE, 100), ear.now)
  ear.mark('one')
  ear.push(tone(RATE, 50), ear.now)
  ear.mark('two')
  expect(pass(400)).toEqual([
    ['one', 260],
    ['two', 320],
  ])
  expect(ear.mark('three')).toBe(true)
  expect(pass(20)).toEqual([['three', 520]])
})

it('hears nothing before it has arrived, although its own time is behind', () => {
  ear.push(tone(RATE, 100), ear.now + 200)
  pass(1000)
  expect(told[0]).toMatchObject({ at: 360, type: 'turn_started' })
})

it('tells turns and gaps where they were', () => {
  ear.push(tone(RATE, 200), ear.now)
  pass(60 + 200 + 100)
  ear.push(tone(RATE, 100), ear.now)
  pass(1000)
  expect(told).toEqual([
    { at: 160, type: 'turn_started' },
    { at: 360, type: 'gap', ms: 160 },
    { at: 620, type: 'turn_ended', ms: 460, gaps: 1, gapMs: 160, cut: false },
  ])
})

it('hears no gap in silence that is sent, and none between turns', () => {
  ear.push(tone(RATE, 100), ear.now)
  ear.push(new Int16Array(RATE * 0.3), ear.now)
  ear.push(tone(RATE, 100), ear.now)
  pass(2000)
  ear.push(tone(RATE, 100), ear.now)
  pass(2000)
  expect(told.map(({ type }) => type)).toEqual(['turn_started', 'turn_ended', 'turn_started', 'turn_ended'])
})

it('makes no turn of silence alone', () => {
  ear.push(new Int16Array(RATE), ear.now)
  pass(2000)
  expect(told).toEqual([])
  expect(ear.spokeAt).toBeUndefined()
})

it('drops what was not played, with its marks, and the turn is cut', () => {
  ear.push(tone(RATE, 500), ear.now)
  ear.mark('end')
  pass(60 + 100)
  expect(ear.clear()).toEqual({ droppedMs: 400, marks: ['end'] })
  expect(told.at(-1)).toMatchObject({ type: 'turn_ended', ms: 100, cut: true })
  expect(pass(1000)).toEqual([])
  ear.mark('after')
  expect(pass(20)).toHaveLength(1)
})

it('records from the moment of dialling, with every silence in its place', () => {
  const sound = tone(RATE, 100)
  ear.push(sound, ear.now)
  pass(300)
  const recording = ear.recording()
  expect(recording.length).toBe((RATE * 400) / 1000)
  expect(recording.subarray(160 * 8, 260 * 8)).toEqual(sound)
  expect(recording.subarray(0, 160 * 8).every((sample) => sample === 0)).toBe(true)
})

it('has an end to what it keeps', () => {
  const minute = new Int16Array(RATE * 60)
  const taken = Array.from({ length: 10 }, () => ear.push(minute, ear.now))
  expect(taken.slice(0, 5)).not.toContain(false)
  expect(taken).toContain(false)
  const marks = Array.from({ length: 2000 }, (_, at) => ear.mark(String(at)))
  expect(marks).toContain(false)
})
