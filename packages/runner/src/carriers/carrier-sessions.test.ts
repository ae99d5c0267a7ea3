import { type AudioCoding, PHONES, PhoneCall, type PhoneCallOptions } from '@botcli/media/phone'
import { CARRIER_IDS, type CarrierId } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GOODBYE_BOT, MIRROR_BOT, TALKATIVE_BOT } from '../testing/phone-bots.ts'
import { ReportingRunner } from '../testing/reporting-bot.ts'
import { RunnerFixture, until } from '../testing/runner-fixture.ts'
import { toneShare } from '../testing/websocket-client.ts'

const wsUrl = (runner: RunnerFixture) => `${runner.url.replace('http', 'ws')}/ws`

/** Every coding of every carrier. */
const CODINGS = CARRIER_IDS.flatMap((carrier) =>
  PHONES[carrier].codings.map((coding) => [carrier, coding.codec, coding.rate, coding] as const),
)

/** More than a period of the tones that are used here. */
const WINDOW_MS = 2.5

/** How many milliseconds of a sound are loud, and how loud. What lies between is not counted, so a hiccup does no harm. */
function measure(samples: Int16Array, { rate }: AudioCoding) {
  const size = (rate * WINDOW_MS) / 1000
  const loud: number[] = []
  for (let at = 0; at + size <= samples.length; at += size) {
    const piece = samples.subarray(at, at + size)
    const power = piece.reduce((sum, sample) => sum + sample * sample, 0) / size
    if (power > 1000 * 1000) loud.push(power)
  }
  const power = loud.reduce((sum, one) => sum + one, 0) / Math.max(1, loud.length)
  return { ms: loud.length * WINDOW_MS, level: Math.sqrt(power) }
}

/** The share of a tone in what is loud of a sound. */
function purity(samples: Int16Array, hertz: number, { rate }: AudioCoding): number {
  const first = samples.findIndex((sample) => Math.abs(sample) > 1000)
  return toneShare(samples.subarray(first, first + rate / 2), hertz, rate)
}

describe('the sound of a call', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(MIRROR_BOT)
  })
  afterAll(() => runner.close())

  it.concurrent.each(CODINGS)(
    'goes through as it is, both ways: %s %s at %i',
    async (carrier, _codec, _rate, coding) => {
      const call = new PhoneCall({
        url: wsUrl(runner),
        carrier,
        coding,
        limitMs: 60_000,
      })
      await until(() => runner.log.find(`listens to ${call.facts.callId}`), 'the bot to listen')
      call.add({ do: 'tone', hertz: 440, ms: 1000 }, { do: 'silence', ms: 400 }, { do: 'keys', keys: '#' })
      const report = await call.ended
      expect(report.closed).toMatchObject({ by: 'runner', code: 1000, unplayedMs: 0 })
      expect(report.violations).toEqual([])
      const said = measure(report.said, coding)
      const heard = measure(report.heard, coding)
      expect(Math.abs(said.ms - 1000)).toBeLessThanOrEqual(10)
      expect(Math.abs(heard.ms - said.ms)).toBeLessThanOrEqual(10)
      expect(heard.level / said.level).toBeGreaterThan(0.9)
      expect(heard.level / said.level).toBeLessThan(1.1)
      expect(purity(report.heard, 440, coding)).toBeGreaterThan(0.9)
      expect(report.marksPlayed).toBe(report.marksAsked)
    },
  )
})

describe('the last word', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(GOODBYE_BOT)
  })
  afterAll(() => runner.close())

  it.concurrent.each(CARRIER_IDS)('is played to its end before the call is over: %s', async (carrier) => {
    const report = await new PhoneCall({ url: wsUrl(runner), carrier, limitMs: 30_000 }).ended
    expect(report.closed).toMatchObject({ by: 'runner', code: 1000, unplayedMs: 0 })
    const { ms } = measure(report.heard, report.coding)
    expect(Math.abs(ms - 1000)).toBeLessThanOrEqual(10)
    expect(report.violations).toEqual([])
    expect(report.events.findLast(({ type }) => type === 'mark_played')).toMatchObject({ dropped: false })
  })
})

describe('keys and interruptions', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(TALKATIVE_BOT)
  })
  afterAll(() => runner.close())

  function dial(options: Partial<PhoneCallOptions>): PhoneCall {
    return new PhoneCall({ url: wsUrl(runner), limitMs: 30_000, ...options })
  }

  it.each(CARRIER_IDS)('a clear empties the buffer of %s', async (carrier) => {
    const call = dial({ carrier })
    await until(() => call.events.some(({ type }) => type === 'turn_started'), 'the bot to speak')
    call.press('0')
    await until(() => call.events.some(({ type }) => type === 'cleared'), 'the clear')
    const report = await call.close()
    expect(report.clears).toBe(1)
    expect(report.violations).toEqual([])
    expect(await until(() => runner.log.find('cleared after'), 'the bot to be told')).toBeDefined()
  })

  it('keys of the bot arrive as keys where the carrier has them', async () => {
    const call = dial({ carrier: 'telephony_c' })
    await until(() => call.events.some(({ type }) => type === 'turn_started'), 'the bot to speak')
    call.press('7')
    const keys = await until(
      () => call.events.find((event) => event.type === 'keys_received'),
      'the key to come back',
    )
    expect(keys).toMatchObject({ keys: '7' })
    await call.close()
  })

  it('keys of the bot are tones where the carrier has none', async () => {
    const call = dial({ carrier: 'telephony_a' })
    await until(() => call.events.some(({ type }) => type === 'turn_started'), 'the bot to speak')
    call.press('5')
    await until(() => call.events.some(({ type }) => type === 'key_pressed'), 'the key')
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const { heard, coding } = await call.close()
    const pieces = Array.from({ length: Math.floor(heard.length / 800) }, (_, at) =>
      toneShare(heard.subarray(at * 800, (at + 1) * 800), 1336, coding.rate),
    )
    expect(Math.max(...pieces)).toBeGreaterThan(0.2)
  })
})

describe('what a bot is told', () => {
  let bots: ReportingRunner
  beforeAll(async () => {
    bots = await ReportingRunner.start()
  })
  afterAll(() => bots.close())

  async function argumentsOf(call: PhoneCall) {
    const { callId } = call.facts
    const args = await until(
      async () => (await bots.reports()).find(({ call }) => (call as { callId?: string })?.callId === callId),
      'the bot to start',
    )
    await call.close()
    return args
  }

  const dial = (carrier: CarrierId, url = wsUrl(bots.runner)) =>
    new PhoneCall({
      url,
      carrier,
      from: '+15550100',
      to: '+15550199',
      custom: { from_number: '+15550100', to_number: '+15550199', plan: 'gold' },
    })

  it.concurrent.each(CARRIER_IDS)('is the call, its numbers and its parameters: %s', async (carrier) => {
    const call = dial(carrier)
    const args = await argumentsOf(call)
    const { callId, streamId, coding } = call.facts
    expect(args).toMatchObject({ variant: 'websocket', transportType: carrier })
    expect(args.call).toMatchObject({ callId, streamId, custom: { plan: 'gold' }, ...coding })
    for (const place of [args.call, args.body] as Record<string, string>[]) {
      expect(place.from?.replace('+', '')).toBe('15550100')
      expect(place.to?.replace('+', '')).toBe('15550199')
    }
    expect(args.body).toMatchObject({ plan: 'gold' })
  })

  it('is the body of /start, for the call that was announced and no other', async () => {
    const body = { customer: 7, plan: 'silver' }
    const { wsUrl: address = '' } = await bots.runner.start({ transport: 'telephony_b', body })
    expect(address).toMatch(/^ws:.*\/ws$/)
    const other = await argumentsOf(dial('telephony_b'))
    expect(other.body).not.toHaveProperty('customer')
    const announced = await argumentsOf(dial('telephony_b', address))
    expect(announced.body).toMatchObject({ customer: 7, plan: 'silver', from: '+15550100' })
    expect(address).toContain(announced.sessionId)
  })
})
