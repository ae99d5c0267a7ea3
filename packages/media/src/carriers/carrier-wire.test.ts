import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { CarrierPair } from '../testing/carrier-pair.ts'
import { SCRIPT_A, SCRIPT_B, SCRIPT_C, SCRIPT_D, SCRIPTS } from '../testing/carrier-scripts.ts'
import { loudestHertz } from '../testing/spectrum.ts'
import { joined, tone } from '../testing/tone.ts'
import { until } from '../testing/until.ts'
import { carrierCodec } from './codec.ts'

const FORMAT = { inputRate: 16_000, outputRate: 24_000 }
const RETURNED = { result: 'ok', cause: 'bot_returned', message: 'The bot is done.' } as const

let pair: CarrierPair
afterEach(() => pair.close())

describe('marks', () => {
  it.each(SCRIPTS)('follow each utterance, after its last sound: $transport', async (script) => {
    pair = await CarrierPair.open(script, { format: FORMAT })
    pair.wire.sendNothing()
    for (const _ of [1, 2]) {
      pair.speak(tone(24_000, 60))
      for (let quiet = 0; quiet < 5; quiet += 1) pair.wire.sendNothing()
    }
    await pair.settled()
    expect(pair.marks).toEqual(['said-1', 'said-2'])
    expect(pair.told.at(-1)).toEqual({ kind: 'mark', name: 'said-2' })
    expect(pair.told.findIndex(({ kind }) => kind === 'mark')).toBeGreaterThan(0)
  })

  it.each(SCRIPTS)('keep the call until the last word was played: $transport', async (script) => {
    pair = await CarrierPair.open(script, { format: FORMAT, limits: { playedMs: 60_000 } })
    pair.speak(tone(24_000, 100))
    pair.wire.close(RETURNED)
    await pair.settled()
    expect(pair.chunks.length).toBeGreaterThan(0)
    expect(pair.marks).toEqual(['said-1'])
    pair.send(script.played('said-0'))
    pair.send(script.media(1, 'AAAA'))
    await pair.settled()
    expect([pair.finished, pair.closed]).toEqual([false, undefined])
    pair.send(script.played('said-1'))
    await until('the call is over', () => pair.closed !== undefined)
    expect(pair.finished).toBe(true)
    expect(pair.closed).toEqual({ code: 1000, reason: 'The bot is done.' })
    expect(pair.events).toEqual(['connected'])
  })

  it('are not waited for without end', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { format: FORMAT, limits: { playedMs: 50 } })
    pair.speak(tone(24_000, 100))
    pair.wire.close(RETURNED)
    await until('the call is over', () => pair.closed !== undefined)
    expect(pair.marks).toEqual(['said-1'])
  })

  it('are not waited for when there is nothing to wait for', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { format: FORMAT, limits: { playedMs: 60_000 } })
    pair.speak(tone(24_000, 100))
    pair.wire.sendNothing()
    pair.wire.sendNothing()
    await pair.settled()
    pair.send(SCRIPT_A.played('said-1'))
    await pair.settled()
    pair.wire.close(RETURNED)
    await until('the call is over', () => pair.closed !== undefined)
    expect(pair.marks).toEqual(['said-1'])
  })

  it('are forgotten when the caller hangs up on the last word', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { format: FORMAT, limits: { playedMs: 60_000 } })
    pair.speak(tone(24_000, 100))
    pair.wire.close(RETURNED)
    pair.carrier.close(1000)
    await until('the wire knows', () => pair.finished)
    expect(pair.events).toEqual(['connected'])
  })
})

describe('an interruption', () => {
  it.each(SCRIPTS)('is passed on, and nothing of the old follows: $transport', async (script) => {
    pair = await CarrierPair.open(script, { format: FORMAT, limits: { playedMs: 60_000 } })
    pair.speak(tone(24_000, 60))
    pair.wire.clear()
    for (let quiet = 0; quiet < 5; quiet += 1) pair.wire.sendNothing()
    pair.wire.close(RETURNED)
    await until('the call is over', () => pair.closed !== undefined)
    expect(pair.told.at(-1)).toEqual({ kind: 'clear' })
    expect(pair.marks).toEqual([])
  })

  it('leaves nothing of the old in the pieces that carrier D wants', async () => {
    pair = await CarrierPair.open(SCRIPT_D, { format: { inputRate: 8000, outputRate: 8000 } })
    pair.speak(tone(8000, 60), 160)
    pair.wire.clear()
    const answer = tone(8000, 200, 1000)
    pair.speak(answer, 160)
    await pair.settled()
    expect(pair.sound).toEqual(answer)
  })
})

describe('before the bot listens', () => {
  it('sound and keys wait for it', async () => {
    pair = await CarrierPair.open(SCRIPT_A)
    pair.say(tone(8000, 200), 20)
    pair.send(SCRIPT_A.dtmf('1'))
    pair.send(SCRIPT_A.dtmf('2'))
    await pair.settled()
    expect([pair.heard.length, pair.events]).toEqual([0, ['connected']])
    pair.wire.setFormat(FORMAT)
    expect(pair.heard).toEqual([])
    pair.wire.sendNothing()
    expect(pair.heard).toHaveLength(10)
    expect(loudestHertz(joined(pair.heard), 16_000)).toBe(440)
    expect(pair.events).toEqual(['connected', 'dtmf 12'])
  })

  it('no more than the last second waits, and no more keys than anybody presses', async () => {
    pair = await CarrierPair.open(SCRIPT_A)
    pair.say(new Int16Array(8000 * 3), 20)
    for (let count = 0; count < 100; count += 1) pair.send(SCRIPT_A.dtmf('7'))
    await pair.settled()
    pair.wire.setFormat(FORMAT)
    pair.wire.sendNothing()
    expect(pair.heard).toHaveLength(50)
    expect(pair.events).toEqual(['connected', `dtmf ${'7'.repeat(64)}`])
  })

  it('a bot without a format says nothing', async () => {
    pair = await CarrierPair.open(SCRIPT_A)
    pair.wire.sendAudio(new Int16Array(480))
    pair.wire.sendMessage()
    await pair.settled()
    expect(pair.told).toEqual([])
  })
})

describe('a carrier that misbehaves', () => {
  it('is put in order, and heard once', async () => {
    pair = await CarrierPair.open(SCRIPT_B, { format: { inputRate: 8000, outputRate: 8000 } })
    const payloads = [1, 2, 3, 4].map((value) => Buffer.alloc(160, value * 10).toString('base64'))
    for (const chunk of [1, 3, 2, 2, 4, 3]) pair.send(SCRIPT_B.media(chunk, payloads[chunk - 1] ?? ''))
    await pair.settled()
    const expected = payloads.map((payload) =>
      carrierCodec({ codec: 'pcmu' }).decode(Buffer.from(payload, 'base64')),
    )
    expect(pair.heard).toEqual(expected)
  })

  it('does not hold up what follows a loss', async () => {
    pair = await CarrierPair.open(SCRIPT_B, { format: FORMAT })
    for (const chunk of [1, 3]) pair.send(SCRIPT_B.media(chunk, Buffer.alloc(160).toString('base64')))
    await pair.settled()
    expect(pair.heard).toHaveLength(1)
    pair.now += 60
    pair.wire.sendNothing()
    expect(pair.heard).toHaveLength(2)
  })

  it('costs what makes no sense, and nothing else', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { format: FORMAT })
    pair.carrier.send('{')
    pair.carrier.send(Buffer.of(1, 2, 3))
    pair.carrier.send('['.repeat(100_000))
    pair.send([])
    pair.send({ event: 'media', media: null })
    pair.send({ event: 'media', media: { payload: '%%%' } })
    pair.send({ event: 'dtmf', dtmf: null })
    pair.send(SCRIPT_A.start())
    pair.send({ ...SCRIPT_A.stop(), streamSid: 'MZother' })
    pair.send({ ...SCRIPT_A.media(1, 'AAAA'), streamSid: 'MZother' })
    pair.send({ event: 'something-new' })
    await pair.settled()
    expect(pair.wire.counters.badMessages).toBe(10)
    expect([pair.heard.length, pair.events]).toEqual([0, ['connected']])
    pair.say(tone(8000, 20), 20)
    await pair.settled()
    expect(pair.heard).toHaveLength(1)
  })

  it('may leave out its stream id', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { format: FORMAT })
    pair.send({ event: 'media', media: { payload: Buffer.alloc(160).toString('base64') } })
    await pair.settled()
    expect(pair.heard).toHaveLength(1)
  })

  it('is heard when it complains', async () => {
    pair = await CarrierPair.open(SCRIPT_B, { format: FORMAT })
    pair.send({ event: 'error', payload: { code: 100_003, title: 'malformed_frame' } })
    await pair.settled()
    expect(pair.complaints).toEqual([{ complaint: '100003 malformed_frame' }])
  })

  it('two with one and the same stream do not touch each other', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { format: FORMAT })
    const other = await CarrierPair.open(SCRIPT_A, { format: FORMAT })
    other.send(SCRIPT_A.stop())
    await until('the other is gone', () => other.events.length === 2)
    pair.say(tone(8000, 20), 20)
    await pair.settled()
    await other.close()
    expect([pair.heard.length, other.heard.length, pair.events]).toEqual([1, 0, ['connected']])
  })

  it('leaves out sound while it does not read', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { format: FORMAT })
    pair.carrier.pause()
    for (let sent = 0; sent < 20_000; sent += 1) pair.wire.sendAudio(new Int16Array(480))
    pair.carrier.resume()
    await pair.settled()
    expect(pair.chunks.length).toBeLessThan(20_000)
  })
})

describe('the end of a call', () => {
  it.each(SCRIPTS)('is a stop of the carrier: $transport', async (script) => {
    pair = await CarrierPair.open(script, { format: FORMAT })
    pair.send(script.stop())
    await until('the socket is closed', () => pair.closed !== undefined)
    expect([pair.events, pair.finished]).toEqual([['connected', 'client_left'], true])
    pair.wire.close(RETURNED)
  })

  it('is told apart: the carrier closed, or its connection broke', async () => {
    pair = await CarrierPair.open(SCRIPT_C)
    pair.carrier.close(1000)
    await until('it is noticed', () => pair.events.length === 2)
    expect([pair.events, pair.finished]).toEqual([['connected', 'client_left'], true])
    await pair.close()
    pair = await CarrierPair.open(SCRIPT_C)
    pair.carrier.terminate()
    await until('it is noticed', () => pair.events.length === 2)
    expect([pair.events, pair.finished]).toEqual([['connected', 'client_lost'], true])
  })

  it('comes when a carrier answers no ping', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { limits: { pingMs: 30 }, autoPong: false })
    await until('it is noticed', () => pair.events.length === 2)
    expect(pair.events).toEqual(['connected', 'client_lost'])
    await until('the connection is cut', () => pair.closed !== undefined)
  })

  it('does not come while a carrier answers no ping but speaks', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { limits: { pingMs: 500 }, autoPong: false })
    let pings = 0
    pair.carrier.on('ping', () => {
      pings += 1
    })
    const talk = setInterval(() => pair.say(new Int16Array(160), 20), 10)
    await until('three pings were sent', () => pings >= 3)
    clearInterval(talk)
    expect(pair.events).toEqual(['connected'])
  })

  it('comes when a carrier answers but sends nothing any more', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { limits: { pingMs: 200, silenceMs: 5000 } })
    let pings = 0
    pair.carrier.on('ping', () => {
      pings += 1
    })
    pair.now += 4000
    pair.say(new Int16Array(160), 20)
    await pair.settled()
    pair.now += 4000
    const before = pings
    await until('more pings were sent', () => pings > before + 1)
    expect(pair.events).toEqual(['connected'])
    pair.now += 1001
    await until('it is noticed', () => pair.events.length === 2)
    expect(pair.events).toEqual(['connected', 'client_lost'])
    expect(pair.reason).toBe('The carrier sent nothing any more.')
  })

  it('comes once, and nothing is sent or told after it', async () => {
    pair = await CarrierPair.open(SCRIPT_A, { format: FORMAT })
    pair.wire.close({ result: 'failed', cause: 'bot_failed', message: 'It broke.' })
    pair.wire.close(RETURNED)
    pair.wire.sendAudio(new Int16Array(480))
    pair.wire.sendNothing()
    pair.wire.clear()
    pair.wire.sendDtmf('1')
    pair.send(SCRIPT_A.dtmf('1'))
    await until('the socket is closed', () => pair.closed !== undefined)
    expect(pair.closed).toEqual({ code: 1011, reason: 'It broke.' })
    expect([pair.told, pair.events, pair.finished]).toEqual([[], ['connected'], true])
  })
})

describe('a carrier wire under fire', () => {
  it.each(SCRIPTS)('survives anything, and still carries the next sound: $transport', async (script) => {
    pair = await CarrierPair.open(script, { format: FORMAT })
    const honest = fc.oneof(
      fc
        .tuple(fc.nat(200), fc.base64String({ maxLength: 2000 }))
        .map(([chunk, data]) => script.media(chunk, data)),
      fc.constantFrom(...'0123456789*#ABCDx').map((digit) => script.dtmf(digit)),
      fc.string().map((name) => script.played(name)),
      fc.constant(script.start()),
    )
    const changed = fc.tuple(honest, fc.string(), fc.jsonValue()).map(([message, key, value]) => {
      const names = Object.keys(message)
      const name = names[key.length % names.length] ?? key
      // Another event could be an honest stop.
      return name === 'event' ? message : { ...message, [name]: value, [key === 'event' ? 'x' : key]: value }
    })
    const sent = fc.oneof(
      fc.oneof(honest, changed).map((message) => JSON.stringify(message)),
      fc.json(),
      fc.string(),
      fc.uint8Array({ maxLength: 200 }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(sent, { maxLength: 20 }), async (messages) => {
        for (const message of messages) pair.carrier.send(message)
        pair.wire.sendNothing()
        await pair.settled()
        expect(pair.events.filter((event) => !event.startsWith('dtmf'))).toEqual(['connected'])
      }),
      { numRuns: 100 },
    )
    expect(pair.wire.counters.badMessages).toBeGreaterThan(0)
    // Nothing waits for a piece that was lost on the way.
    pair.now += 60
    pair.wire.sendNothing()
    const before = pair.heard.length
    pair.say(tone(8000, 100), 100, 100_000)
    await pair.settled()
    expect(pair.heard.length).toBe(before + 5)
  })
})
