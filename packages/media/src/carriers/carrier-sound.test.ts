import { afterEach, describe, expect, it } from 'vitest'
import { CarrierPair } from '../testing/carrier-pair.ts'
import {
  type CarrierScript,
  SCRIPT_A,
  SCRIPT_B,
  SCRIPT_C,
  SCRIPT_D,
  SCRIPTS,
} from '../testing/carrier-scripts.ts'
import { amplitudeAt, loudestHertz } from '../testing/spectrum.ts'
import { joined, tone } from '../testing/tone.ts'
import { until } from '../testing/until.ts'

const FORMAT = { inputRate: 16_000, outputRate: 24_000 }
const RETURNED = { result: 'ok', cause: 'bot_returned', message: 'The bot is done.' } as const

let pair: CarrierPair
afterEach(() => pair.close())

/** When a sound begins, in milliseconds. */
function onset(samples: Int16Array, rate: number): number {
  return (samples.findIndex((sample) => Math.abs(sample) > 4000) * 1000) / rate
}

interface Case {
  readonly name: string
  readonly script: CarrierScript
  readonly coding: { readonly encoding: string; readonly rate: number }
  readonly packetMs: number
}

const CASES: readonly Case[] = [
  ...SCRIPTS.map((script) => ({
    name: script.transport,
    script,
    coding: script.format,
    packetMs: script === SCRIPT_D ? 100 : 20,
  })),
  { name: 'telephony_b, PCMA', script: SCRIPT_B, coding: { encoding: 'PCMA', rate: 8000 }, packetMs: 20 },
  { name: 'telephony_b, L16', script: SCRIPT_B, coding: { encoding: 'L16', rate: 16_000 }, packetMs: 20 },
  {
    name: 'telephony_c, L16',
    script: SCRIPT_C,
    coding: { encoding: 'audio/x-l16', rate: 16_000 },
    packetMs: 20,
  },
  {
    name: 'telephony_d, 24 kHz',
    script: SCRIPT_D,
    coding: { encoding: 'audio/x-raw', rate: 24_000 },
    packetMs: 100,
  },
]

describe.each(CASES)('sound over $name', ({ script, coding, packetMs }) => {
  it('reaches the bot as it was: tone, level, length, in steps of 20 ms', async () => {
    pair = await CarrierPair.open(script, { coding, format: FORMAT })
    pair.say(tone(coding.rate, 600), packetMs)
    await pair.settled()
    expect(pair.heard.map(({ length }) => length)).toEqual(new Array(30).fill(320))
    const middle = joined(pair.heard).subarray(1600, 8000)
    expect(loudestHertz(middle, 16_000)).toBe(440)
    expect(amplitudeAt(middle, 440, 16_000)).toBeGreaterThan(7800)
    expect(amplitudeAt(middle, 440, 16_000)).toBeLessThan(8200)
    expect(onset(joined(pair.heard), 16_000) - onset(tone(coding.rate, 600), coding.rate)).toBeLessThan(4)
    expect(pair.wire.counters.badMessages).toBe(0)
  })

  it('reaches the caller as it was: tone, level, and the whole of its end', async () => {
    pair = await CarrierPair.open(script, { coding, format: FORMAT })
    const { rate } = pair.greeting.start.speaks
    pair.speak(tone(24_000, 500))
    pair.wire.sendNothing()
    pair.wire.sendNothing()
    await pair.settled()
    const sound = pair.sound
    const middle = sound.subarray(rate * 0.1, rate * 0.4)
    expect(loudestHertz(middle, rate)).toBe(440)
    expect(amplitudeAt(middle, 440, rate)).toBeGreaterThan(7800)
    expect(amplitudeAt(middle, 440, rate)).toBeLessThan(8200)
    // Everything that went in is there, later by half a filter, and then there is silence.
    const filterMs = rate === 24_000 ? 0 : 24_000 / rate
    const loudMs = (sound.findLastIndex((sample) => Math.abs(sample) > 1500) * 1000) / rate
    expect(loudMs - filterMs).toBeGreaterThan(499.2)
    expect(loudMs - filterMs).toBeLessThan(502)
    expect(onset(sound, rate) - onset(tone(24_000, 500), 24_000)).toBeLessThan(4)
  })

  it('is one piece a step where the carrier has no rule of its own', async () => {
    pair = await CarrierPair.open(script, { coding, format: FORMAT })
    const { codec, rate } = pair.greeting.start.speaks
    pair.speak(tone(24_000, 500))
    await pair.settled()
    const stepBytes = (rate / 50) * (codec === 'l16' ? 2 : 1)
    const stepsAPiece = script === SCRIPT_D ? Math.ceil(3200 / stepBytes) : 1
    const sizes = new Array(Math.floor(25 / stepsAPiece)).fill(stepBytes * stepsAPiece)
    expect(pair.chunks.map(({ length }) => length)).toEqual(sizes)
  })
})

describe('pieces for carrier D', () => {
  it('are whole, also when a bot is late for a step, which costs no more than that step', async () => {
    pair = await CarrierPair.open(SCRIPT_D, { format: { inputRate: 8000, outputRate: 8000 } })
    const said = tone(8000, 180)
    pair.speak(said.subarray(0, 480), 160)
    pair.wire.sendNothing()
    pair.speak(said.subarray(480), 160)
    pair.wire.sendNothing()
    pair.wire.sendNothing()
    await pair.settled()
    for (const { length } of pair.chunks) expect(length >= 3200 && length % 320 === 0).toBe(true)
    const gap = new Int16Array(160)
    const heard = pair.sound.subarray(0, 480 + 160 + 960)
    expect(heard).toEqual(joined([said.subarray(0, 480), gap, said.subarray(480)]))
  })
})

describe('keys', () => {
  it.each(SCRIPTS)('of the caller reach the bot: $transport', async (script) => {
    pair = await CarrierPair.open(script, { format: FORMAT })
    pair.send(script.dtmf('5'))
    pair.send(script.dtmf('#'))
    await pair.settled()
    expect(pair.events).toEqual(['connected', 'dtmf 5', 'dtmf #'])
  })

  it('of the bot are pressed by carrier C', async () => {
    pair = await CarrierPair.open(SCRIPT_C, { format: FORMAT })
    pair.wire.sendDtmf('12#')
    await pair.settled()
    expect(pair.told).toEqual([{ kind: 'dtmf', keys: '12#' }])
  })

  it.each([SCRIPT_A, SCRIPT_B, SCRIPT_D])('of the bot are sounds elsewhere: $transport', async (script) => {
    pair = await CarrierPair.open(script, { format: FORMAT })
    pair.wire.sendDtmf('5#')
    for (let step = 0; step < 20; step += 1) pair.wire.sendNothing()
    await pair.settled()
    const sound = pair.sound
    const five = sound.subarray(0, 800)
    const hash = sound.subarray(1280, 2080)
    for (const [key, low, high] of [
      [five, 770, 1336],
      [hash, 941, 1477],
    ] as const) {
      expect(amplitudeAt(key, low, 8000)).toBeGreaterThan(7000)
      expect(amplitudeAt(key, high, 8000)).toBeGreaterThan(7000)
    }
    expect(pair.marks).toHaveLength(1)
  })

  it('of a bot that left are still heard', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { format: FORMAT })
    pair.wire.sendDtmf('5')
    pair.wire.close(RETURNED)
    await pair.settled()
    expect(amplitudeAt(pair.sound.subarray(0, 800), 770, 8000)).toBeGreaterThan(7000)
    pair.send(SCRIPT_A.played('said-1'))
    await until('the call is over', () => pair.closed !== undefined)
  })
})
