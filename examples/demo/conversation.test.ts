import { beforeAll, describe, expect, it } from 'vitest'
import { Conversation } from './conversation.ts'
import { loadFlite } from './flite.ts'
import { PHRASES } from './phrases.ts'
import { randomNumbers, speech, TestCall, type TestLine } from './test-call.ts'
import { Voice } from './voice.ts'

const voice = new Voice()

// The time of these calls runs faster than the voice can be loaded.
beforeAll(async () => {
  await loadFlite()
})

async function begin(line: TestLine = {}) {
  const call = new TestCall(line)
  const conversation = new Conversation({ transport: call, voice, clock: call, random: randomNumbers(5) })
  let outcome: 'talking' | 'over' | Error = 'talking'
  const run = conversation.run().then(
    () => {
      outcome = 'over'
    },
    (error: Error) => {
      outcome = error
    },
  )
  return { call, run, outcome: () => outcome }
}

/** A call in which the greeting is over. */
async function beginGreeted(line: TestLine = {}) {
  const begun = await begin(line)
  begun.call.connect()
  begun.call.clientReady()
  await begun.call.passUntil(() => begun.call.log.includes('bot stopped'))
  await begun.call.pass(1000)
  begun.call.log.length = 0
  return begun
}

function peak(sounds: readonly Int16Array[]): number {
  return sounds.reduce((highest, sound) => Math.max(highest, ...sound), 0)
}

describe('the greeting', () => {
  it('comes once the client is ready, says what to do, and ends', async () => {
    const { call } = await begin()
    call.connect()
    await call.pass(400)
    expect(call.log).toEqual([])
    call.clientReady()
    await call.passUntil(() => call.log.includes('bot stopped'))
    expect(call.log.slice(0, 2)).toEqual(['bot started', 'bot said: Hello!'])
    expect(call.log.join('\n')).toContain('type help')
    await call.pass(4000)
    expect(call.log.filter((line) => line === 'bot started').length).toBe(1)
  })

  it('reaches a client that never says it is ready', async () => {
    const { call } = await begin({ type: 'websocket' })
    call.connect()
    await call.passUntil(() => call.log.includes('bot started'), 3000)
  })

  it('comes at once on the phone, and does not ask to type', async () => {
    const { call } = await begin({ type: 'telephony_a' })
    call.connect()
    await call.pass(60)
    expect(call.log[0]).toBe('bot started')
    await call.passUntil(() => call.log.includes('bot stopped'))
    expect(call.log.join('\n')).not.toContain('type')
    expect(call.log.join('\n')).toContain('press 0')
  })

  it('is heard as sound without gaps, and its text comes with it', async () => {
    const { call } = await begin({ type: 'telephony_a' })
    call.connect()
    await call.passUntil(() => call.log.includes('bot stopped'))
    const said = call.log.filter((line) => line.startsWith('bot said: ')).map((line) => line.slice(10))
    const expected: number[] = []
    for (const text of said) expected.push(...(await speech(voice, text)))
    const played = call.played.flatMap((sound) => [...sound])
    const start = played.findIndex((sample) => sample !== 0)
    const offset = expected.findIndex((sample) => sample !== 0)
    expect(played.slice(start, start + expected.length - offset)).toEqual(expected.slice(offset))
  })
})

describe('speech', () => {
  it('is noticed, measured and answered', async () => {
    const { call } = await beginGreeted({ noise: 80 })
    await call.pass(4000, await speech(voice, 'Good morning, can you hear me?', 0.4))
    await call.passUntil(() => call.log.includes('bot stopped'))
    expect(call.log.slice(0, 2)).toEqual(['user started', 'user stopped'])
    const [, length] = call.log[2]?.match(/^user said: \((.+ seconds) of speech\)$/) ?? []
    expect(call.log[3]).toBe('bot started')
    expect(call.log[4]).toContain(length)
  })

  it('can be played back, louder when it was quiet', async () => {
    const { call } = await beginGreeted()
    await call.pass(4000, await speech(voice, 'Good morning, can you hear me?', 0.1))
    await call.passUntil(() => call.log.includes('bot stopped'))
    call.log.length = 0
    call.press('1')
    await call.passUntil(() => call.log.some((line) => line.startsWith('bot said: (your own voice')))
    await call.pass(400)
    call.played.length = 0
    await call.passUntil(() => call.log.includes('bot stopped'))
    expect(peak(call.played)).toBeGreaterThan(6000)
  })

  it('ends when the client stops sending', async () => {
    const { call } = await beginGreeted()
    await call.pass(1000, await speech(voice, 'Good morning, can you hear me?'))
    expect(call.log).toEqual(['user started'])
    await call.passMuted(2000)
    expect(call.log.slice(0, 2)).toEqual(['user started', 'user stopped'])
  })

  it('does not get a second answer when typing was answered meanwhile', async () => {
    const { call } = await beginGreeted()
    const said = await speech(voice, 'Good morning, can you hear me?')
    await call.pass(1000, said)
    call.typeText('count to 20')
    await call.pass(2500, said.subarray(16_000))
    expect(call.log).toContain('user stopped')
    expect(call.log.filter((line) => line === 'bot started').length).toBe(1)
    expect(call.log).not.toContain('bot interrupted')
  })
})

describe('barge-in', () => {
  it('stops the bot in the middle of what it says', async () => {
    const { call } = await begin()
    call.connect()
    call.clientReady()
    await call.pass(3000)
    await call.pass(1500, await speech(voice, 'Stop, please stop talking now!'))
    const at = call.log.indexOf('user started')
    expect(call.log.slice(at, at + 4)).toEqual(['user started', 'cleared', 'bot interrupted', 'bot stopped'])
    const silentFrom = call.played.length
    await call.pass(500)
    expect(peak(call.played.slice(silentFrom))).toBe(0)
    await call.passUntil(() => call.log.lastIndexOf('bot started') > at)
    await call.passUntil(() => call.log.at(-1) === 'bot stopped')
    expect(call.log.join('\n')).not.toContain('press 0')
    expect(
      PHRASES.interrupted.some((phrase) => call.log.join(' ').includes(phrase.split(',')[0] ?? '?')),
    ).toBe(true)
  })

  it.each([
    [0.03, 100],
    [0.1, 200],
    [0.3, 60],
    [0.3, 600],
  ])('is not caused by an echo of %f after %i ms', async (echo, echoDelayMs) => {
    const { call } = await beginGreeted({ echo, echoDelayMs, noise: 30 })
    for (const text of ['help', 'tell me a joke', 'count to 20']) {
      call.typeText(text)
      await call.passUntil(() => call.log.includes('bot stopped'))
      await call.pass(1500)
      expect(call.log).not.toContain('user started')
      call.log.length = 0
    }
  })

  it('works over an echo', async () => {
    const { call } = await beginGreeted({ echo: 0.1, noise: 30 })
    call.typeText('help')
    await call.pass(2000)
    await call.pass(2500, await speech(voice, 'Stop, please stop talking now!'))
    expect(call.log).toContain('bot interrupted')
  })

  it('by a key or a text answers only the last one', async () => {
    const { call } = await beginGreeted()
    for (let index = 0; index < 50; index += 1) call.press('7')
    call.typeText('repeat the last one')
    await call.passUntil(() => call.log.includes('bot stopped'))
    expect(call.log).toEqual([
      'user typed: repeat the last one',
      'bot started',
      'bot said: the last one',
      'bot stopped',
    ])
  })
})

describe('typed text', () => {
  it('is confirmed and answered aloud', async () => {
    const { call } = await beginGreeted()
    call.typeText('what time is it')
    await call.passUntil(() => call.log.includes('bot stopped'))
    expect(call.log).toEqual([
      'user typed: what time is it',
      'bot started',
      'bot said: It is 3:45 PM here.',
      'bot stopped',
    ])
  })

  it('is answered in writing when sound is not wanted, or the bot is not to be disturbed', async () => {
    const { call } = await beginGreeted()
    call.typeText('repeat one', { audioResponse: false })
    call.typeText('count to 5')
    await call.pass(500)
    call.typeText('repeat two', { runImmediately: false })
    await call.passUntil(() => call.log.includes('bot stopped'))
    expect(call.log).toContain('bot wrote: one')
    expect(call.log).toContain('bot wrote: two')
    expect(call.log).not.toContain('bot interrupted')
  })

  it('that is a request of the client is refused', async () => {
    const { call } = await beginGreeted()
    const failures: string[] = []
    const fail = (message: string): void => void failures.push(message)
    call.request({ type: 'weather', data: undefined, respond: () => undefined, fail })
    expect(failures).toEqual(['The demo bot answers no requests, so "weather" has no answer.'])
  })
})

describe('the end', () => {
  it('comes after a goodbye was heard', async () => {
    const { call, run, outcome } = await beginGreeted()
    call.typeText('bye')
    await call.passUntil(() => call.log.includes('bot started'))
    expect(outcome()).toBe('talking')
    await call.passUntil(() => call.log.includes('bot stopped'))
    await call.pass(40)
    await run
    expect(outcome()).toBe('over')
    expect(call.queuedMs).toBe(0)
    expect(call.listeners).toBe(0)
  })

  it('does not come when the caller cuts the goodbye short', async () => {
    const { call, outcome } = await beginGreeted()
    call.press('#')
    await call.pass(100)
    call.press('7')
    await call.pass(4000)
    expect(call.log).toContain('bot said: You pressed 7.')
    expect(outcome()).toBe('talking')
  })

  it.each([0, 1000])('comes cleanly when the caller hangs up %i ms into the greeting', async (ms) => {
    const { call, run, outcome } = await begin()
    call.connect()
    call.clientReady()
    await call.pass(ms)
    call.broken = new Error('The session is over.')
    call.hangUp()
    await call.pass(40)
    await run
    expect(outcome()).toBe('over')
    expect(call.listeners).toBe(0)
    const told = call.log.length
    call.typeText('hello')
    await call.pass(500)
    expect(call.log.length).toBe(told)
  })

  it('comes at once when there is no session any more', async () => {
    const call = new TestCall()
    call.hangUp()
    await new Conversation({ transport: call, voice, clock: call, random: Math.random }).run()
    expect(call.log).toEqual([])
  })

  it('is a failure when the bot can no longer speak', async () => {
    const { call, run, outcome } = await begin()
    call.broken = new Error('Nothing can be sent.')
    call.connect()
    call.clientReady()
    await call.pass(500)
    await run
    expect(outcome()).toBe(call.broken)
  })
})
