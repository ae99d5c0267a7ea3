import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { CARRIER_IDS } from '@botcli/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocketServer } from 'ws'
import { HOUSE_RATE, type HouseBot, PhoneHouse } from '../testing/phone-house.ts'
import { amplitudeAt, loudestHertz } from '../testing/spectrum.ts'
import { tone } from '../testing/tone.ts'
import { until } from '../testing/until.ts'
import type { CallEvent } from './call-events.ts'
import { PHONES } from './dialects.ts'
import { PhoneCall, type PhoneCallOptions } from './phone-call.ts'

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean()
})

async function house(bot?: HouseBot): Promise<PhoneHouse> {
  const opened = await PhoneHouse.open(bot)
  cleanUp.push(() => opened.close())
  return opened
}

function dial(options: PhoneCallOptions): PhoneCall {
  const call = new PhoneCall(options)
  cleanUp.push(() => call.close())
  return call
}

function ofType<Type extends CallEvent['type']>(events: readonly CallEvent[], type: Type) {
  return events.filter((event): event is Extract<CallEvent, { type: Type }> => event.type === type)
}

/** The best tenth of a second of a tone; a busy machine makes gaps in it, which are not the matter here. */
function loudest(heard: Int16Array, rate: number): Int16Array {
  const windows = Array.from({ length: Math.floor((heard.length / rate) * 50) }, (_, step) =>
    heard.subarray((step * rate) / 50, (step * rate) / 50 + rate / 10),
  )
  const levels = windows.map((window) => amplitudeAt(window, 440, rate))
  return windows[levels.indexOf(Math.max(...levels))] ?? new Int16Array()
}

it.each(CARRIER_IDS)(
  '%s hears the tone that it sends, as loud as it was, in every coding',
  async (carrier) => {
    const { url, calls } = await house()
    const reports = PHONES[carrier].codings.map((coding) => {
      return dial({
        url,
        carrier,
        coding,
        from: '+15551111',
        to: '+15552222',
        custom: { plan: 'gold' },
        script: [{ do: 'tone', hertz: 440, ms: 800 }, { do: 'waitForTurn', limitMs: 5000 }, { do: 'hangUp' }],
      }).ended
    })
    for (const { callId, streamId, coding, ...report } of await Promise.all(reports)) {
      expect(report.violations).toEqual([])
      expect(calls.find(({ call }) => call.callId === callId)?.call).toMatchObject({
        transport: carrier,
        streamId,
        from: '+15551111',
        to: '+15552222',
        custom: { plan: 'gold' },
        codec: coding.codec,
        rate: coding.rate,
      })
      expect(report.closed).toMatchObject({ by: 'caller', code: 1000 })
      const heard = loudest(report.heard, coding.rate)
      expect(loudestHertz(heard, coding.rate)).toBe(440)
      expect(Math.abs(amplitudeAt(heard, 440, coding.rate) - 7000)).toBeLessThan(350)
      expect(report.said.length).toBe(report.heard.length)
    }
  },
)

describe('a call', () => {
  it('is told as it happens, in order', async () => {
    const { url } = await house({
      began: (voice) => voice.say(tone(HOUSE_RATE, 500)),
      keys: (voice, keys) => voice.press(keys),
    })
    const told: CallEvent[] = []
    const call = dial({
      url,
      carrier: 'telephony_c',
      onEvent: (event) => told.push(event),
      script: [
        { do: 'waitForTurn', limitMs: 5000 },
        { do: 'speech', ms: 300 },
        { do: 'keys', keys: '1#' },
      ],
    })
    const received = () => ofType(told, 'keys_received').map(({ keys }) => keys)
    await until('both keys came back', () => received().join('') === '1#')
    const report = await call.close()
    expect(told).toEqual(report.events)
    expect(told.map(({ at }) => at)).toEqual(told.map(({ at }) => at).sort((a, b) => a - b))
    const order = told.map(({ type }) => type).filter((type) => type !== 'gap')
    expect(order.slice(0, 4)).toEqual(['dialled', 'answered', 'started', 'first_audio'])
    expect(order.slice(-2)).toEqual(['hung_up', 'closed'])
    const marks = [ofType(told, 'mark_asked')[0]?.name, ofType(told, 'mark_played')[0]?.name]
    expect(marks).toEqual(['said-1', 'said-1'])
    expect(ofType(told, 'key_pressed').map(({ key }) => key)).toEqual(['1', '#'])
    expect(ofType(told, 'caller_started')).toMatchObject([{ what: 'generated speech', ms: 300 }])
    // The bot spoke first, so the caller had said nothing yet.
    expect(ofType(told, 'first_audio')[0]).not.toHaveProperty('afterSaidMs')
    expect(report.turns.reduce((sum, { ms }) => sum + ms, 0)).toBeGreaterThan(400)
  })

  it('can be added to, and pressed keys into, while it lasts', async () => {
    const keys: string[] = []
    const { url } = await house({ keys: (_, pressed) => keys.push(pressed) })
    const call = dial({ url })
    call.press('42')
    await until('the keys have come', () => keys.join('') === '42')
    call.add({ do: 'tone', hertz: 300, ms: 100 }, { do: 'hangUp' })
    const { events } = await call.ended
    expect(ofType(events, 'caller_stopped')).toHaveLength(1)
  })

  it('says who ended it, and why', async () => {
    const opened = await house({
      began: (voice) => voice.say(tone(HOUSE_RATE, 500)),
    })
    const call = dial({ url: opened.url })
    await until('the bot is heard', () => call.events.some(({ type }) => type === 'turn_started'))
    await opened.end(0, { result: 'failed', cause: 'bot_failed', message: 'It fell over.' })
    const { closed } = await call.ended
    expect(closed).toMatchObject({ by: 'runner', code: 1011, reason: 'It fell over.' })
  })

  it('is hung up when its time is up', async () => {
    const { url } = await house()
    const { events, closed } = await dial({ url, limitMs: 300 }).ended
    expect(ofType(events, 'hung_up')).toMatchObject([{ why: 'the time is up' }])
    expect(closed.by).toBe('caller')
  })

  it.each([0, 1, 50, 400])('can be closed after %s ms, and leaves nothing behind', async (ms) => {
    const opened = await house()
    const stop = new AbortController()
    const call = dial({ url: opened.url, signal: stop.signal, script: [{ do: 'speech', ms: 5000 }] })
    await new Promise((resolve) => setTimeout(resolve, ms))
    stop.abort()
    const { closed } = await call.ended
    expect(closed.by).toBe('caller')
    await until('the house is empty', () => opened.load === 0)
  })

  it('is over at once when it was stopped before it began', async () => {
    const { url } = await house()
    const { closed, answeredMs } = await dial({ url, signal: AbortSignal.abort() }).ended
    expect([closed.by, answeredMs]).toEqual(['caller', undefined])
  })
})

describe('a call that is not answered', () => {
  it('says that there is nobody', async () => {
    const { refused, closed } = await dial({ url: 'ws://127.0.0.1:9/ws' }).ended
    expect(refused?.message).toContain('ECONNREFUSED')
    expect(closed.by).toBe('network')
  })

  it('says with what words it was refused', async () => {
    const server = createServer((_, response) => response.writeHead(200).end('no WebSocket'))
    server.on('upgrade', (_, socket) => {
      socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n{"error":"The bot does not load."}')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUp.push(() => server.close())
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`
    const { refused, events } = await dial({ url }).ended
    expect(refused).toEqual({ status: 503, message: 'The bot does not load.' })
    expect(events.map(({ type }) => type)).toEqual(['dialled', 'refused', 'closed'])
  })

  it('is given up when nobody answers in time', async () => {
    const server = createTcpServer(() => {}).listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUp.push(() => server.close())
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`
    expect((await dial({ url, answerMs: 100 }).ended).refused?.message).toContain('timed out')
  })
})

describe('a runner that does not speak as it should', () => {
  async function violations(
    carrier: (typeof CARRIER_IDS)[number],
    ...messages: (object | string | Buffer)[]
  ) {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    cleanUp.push(() => server.close())
    server.on('connection', (socket) => {
      socket.once('message', () => {
        for (const one of messages) {
          const isText = typeof one === 'string' || Buffer.isBuffer(one)
          socket.send(isText ? one : JSON.stringify(one))
        }
        socket.close(1000)
      })
    })
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ids = { callId: 'call', streamId: 'own', accountId: 'me' }
    return (await dial({ url, carrier, ids }).ended).violations
  }
  const sound = (bytes: number) => Buffer.alloc(bytes).toString('base64')
  const d = (bytes: number) => ({ event: 'media', stream_sid: 'own', media: { payload: sound(bytes) } })
  const c = (contentType: string, sampleRate: number) => ({
    event: 'playAudio',
    streamId: 'own',
    media: { contentType, sampleRate, payload: sound(160) },
  })

  it.each([
    ['telephony_a', 'no JSON', 'not in this carrier'],
    ['telephony_a', Buffer.from([1, 2]), 'binary'],
    ['telephony_a', { event: 'media', media: { payload: sound(160) } }, 'streamSid'],
    ['telephony_a', { event: 'media', streamSid: 'own', media: { payload: '' } }, 'no sound'],
    ['telephony_a', { event: 'media', streamSid: 'own', media: { payload: 'AAAAA' } }, 'no whole base64'],
    ['telephony_a', { event: 'clear', streamSid: 'other' }, 'other'],
    ['telephony_a', { event: 'hang-up', streamSid: 'own' }, 'event'],
    ['telephony_b', { event: 'media', media: { payload: sound(80) } }, 'shorter than the 160'],
    ['telephony_c', c('audio/x-l16', 8000), 'audio/x-l16'],
    ['telephony_c', c('audio/x-mulaw', 16_000), '16000 Hz'],
    ['telephony_d', d(640), 'shorter than the 3200'],
    ['telephony_d', d(3300), 'no multiple of 320'],
    ['telephony_d', d(3201), 'half a sample'],
    ['telephony_d', d(320 * 400), 'longer than'],
  ] as const)('%s, case %#', async (carrier, message, why) => {
    const found = await violations(carrier, message)
    expect(found).toEqual([expect.stringContaining(why)])
  })

  it('hears the complaint of a carrier that has one', async () => {
    const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
    await once(server, 'listening')
    cleanUp.push(() => server.close())
    const got: string[] = []
    server.on('connection', (socket) => {
      socket.on('message', (data) => got.push(String(data)))
      socket.send('nonsense')
    })
    dial({ url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, carrier: 'telephony_b' })
    await until('it complains', () => got.some((text) => text.includes('malformed_frame')))
  })

  it('is told of each kind once', async () => {
    expect(await violations('telephony_d', d(640), d(640), d(3200), d(3300))).toHaveLength(2)
  })
})
