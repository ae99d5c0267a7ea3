import { isVoiced } from '@botcli/audio'
import { beforeEach, describe, expect, it } from 'vitest'
import { loudestHertz } from '../testing/spectrum.ts'
import { tone } from '../testing/tone.ts'
import type { CallHappening } from './call-events.ts'
import { type BotVoice, Caller, type CallerStep } from './caller.ts'
import { joined } from './ear.ts'

const RATE = 8000
let now: number
let bot: BotVoice | undefined
let told: (CallHappening & { at: number })[]
let keys: [number, string][]
let hungUpAt: number | undefined

beforeEach(() => {
  now = 0
  bot = undefined
  told = []
  keys = []
  hungUpAt = undefined
})

function follow(...script: CallerStep[]): Caller {
  return new Caller({
    rate: RATE,
    stepMs: 20,
    seed: 1,
    script,
    bot: () => bot,
    tell: (at, happening) => told.push({ at, ...happening }),
    press: (key) => keys.push([now, key]),
    hangUp: () => {
      hungUpAt ??= now
    },
  })
}

function pass(caller: Caller, ms: number): Int16Array {
  const sound: Int16Array[] = []
  for (let at = 0; at < ms; at += 20) {
    sound.push(caller.step(now))
    now += 20
  }
  return joined(sound)
}

it('says things after each other, and is silent then', () => {
  const caller = follow(
    { do: 'tone', hertz: 500, ms: 100 },
    { do: 'silence', ms: 100 },
    { do: 'speech', ms: 200 },
  )
  const sound = pass(caller, 600)
  expect(loudestHertz(sound.subarray(0, 800), RATE)).toBe(500)
  expect(isVoiced(sound.subarray(800, 1600))).toBe(false)
  expect(isVoiced(sound.subarray(1600, 3200))).toBe(true)
  expect(isVoiced(sound.subarray(3200))).toBe(false)
  expect(told.map(({ at, type }) => [at, type])).toEqual([
    [0, 'caller_started'],
    [100, 'caller_stopped'],
    [200, 'caller_started'],
    [400, 'caller_stopped'],
  ])
})

it('says sound of any rate at its own, to the end', () => {
  const caller = follow({ do: 'say', samples: tone(48_000, 300, 440), rate: 48_000, name: 'hi.wav' })
  const sound = pass(caller, 400)
  expect(loudestHertz(sound.subarray(0, 2400), RATE)).toBe(440)
  expect(told).toMatchObject([{ what: 'hi.wav', ms: 320 }, { type: 'caller_stopped' }])
})

it('presses keys one after the other before it goes on, and typed ones besides', () => {
  const caller = follow({ do: 'keys', keys: '12' }, { do: 'tone', hertz: 500, ms: 1000 })
  pass(caller, 300)
  caller.press('#')
  pass(caller, 400)
  expect(keys).toEqual([
    [0, '1'],
    [200, '2'],
    [400, '#'],
  ])
  expect(told).toMatchObject([{ type: 'caller_started' }])
})

describe('waiting for the bot', () => {
  const WAIT: CallerStep = { do: 'waitForTurn', limitMs: 500 }

  it('ends at the limit when it never speaks', () => {
    pass(follow(WAIT, { do: 'hangUp' }), 1000)
    expect(hungUpAt).toBe(500)
  })

  it('ends when it has spoken, but not while it speaks, however long', () => {
    const caller = follow(WAIT, { do: 'hangUp' })
    bot = { speaking: true, beganAt: 0, spokeAt: 0 }
    pass(caller, 2000)
    expect(hungUpAt).toBeUndefined()
    bot = { speaking: false, beganAt: 0, spokeAt: 1300 }
    pass(caller, 20)
    expect(hungUpAt).toBe(2000)
  })

  it('does not take what the bot said before, or what was interrupted, for an answer', () => {
    const wait = { do: 'waitForTurn', limitMs: 5000 } as const
    const caller = follow({ do: 'tone', hertz: 500, ms: 200 }, wait, { do: 'hangUp' })
    pass(caller, 100)
    bot = { speaking: false, beganAt: -500, spokeAt: 40 }
    pass(caller, 2000)
    expect(hungUpAt).toBeUndefined()
    bot = { speaking: false, beganAt: 2000, spokeAt: 2100 }
    pass(caller, 1000)
    expect(hungUpAt).toBe(2800)
  })
})

it('knows how what happens lies to what it said', () => {
  const caller = follow({ do: 'silence', ms: 100 }, { do: 'tone', hertz: 500, ms: 200 })
  pass(caller, 100)
  expect(caller.answerAt(100)).toEqual({})
  pass(caller, 140)
  expect(caller.answerAt(240)).toEqual({ whileSayingMs: 140 })
  pass(caller, 300)
  expect(caller.answerAt(540)).toEqual({ afterSaidMs: 240 })
})

it('falls silent at once when it is stopped', () => {
  const caller = follow({ do: 'tone', hertz: 500, ms: 1000 }, { do: 'keys', keys: '1' }, { do: 'hangUp' })
  pass(caller, 100)
  caller.stop()
  expect(isVoiced(pass(caller, 2000))).toBe(false)
  expect([keys, hungUpAt]).toEqual([[], undefined])
})
