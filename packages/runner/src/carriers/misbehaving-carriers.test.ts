import { MISBEHAVIOUR_NAMES, MISBEHAVIOURS, PhoneCall } from '@botcli/media/phone'
import { CARRIER_IDS, type CarrierId, type SessionView } from '@botcli/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'

const TONE = { do: 'tone', hertz: 440, ms: 3000 } as const
const SEED = 4242

const BREAKING = MISBEHAVIOUR_NAMES.filter((name) => 'breaksCall' in MISBEHAVIOURS[name])
const ANNOYING = MISBEHAVIOUR_NAMES.filter((name) => !BREAKING.includes(name))

let runner: RunnerFixture
beforeAll(async () => {
  runner = await RunnerFixture.start(ECHO, { maxSessions: 100 })
})
afterAll(() => runner.close())

const url = () => `${runner.url.replace('http', 'ws')}/ws`

async function views(): Promise<readonly SessionView[]> {
  const { sessions } = (await (await runner.request('/sessions')).json()) as { sessions: SessionView[] }
  return sessions
}

/** The runner serves the next caller as if nothing had been. */
async function expectWell(carrier: CarrierId = 'telephony_a'): Promise<void> {
  await until(() => runner.runner.sessions === 0, 'all sessions to end')
  const call = new PhoneCall({ url: url(), carrier, script: [{ do: 'tone', hertz: 440, ms: 10_000 }] })
  await until(() => call.events.some(({ type }) => type === 'turn_started'), 'the bot to speak')
  await call.close()
  await until(() => runner.runner.sessions === 0, 'the session to end')
}

/** Each carrier gets its share of what is no matter of its dialect; bad messages are. */
const EACH = [
  ...MISBEHAVIOUR_NAMES.map(
    (name, index) => [name, CARRIER_IDS[index % CARRIER_IDS.length] ?? 'telephony_a'] as const,
  ),
  ...CARRIER_IDS.map((carrier) => ['malformed', carrier] as const),
]

it.concurrent.each(EACH.filter(([name]) => ANNOYING.includes(name)))(
  'a carrier is served although it misbehaves: %s as %s',
  async (name, carrier) => {
    const call = new PhoneCall({
      url: url(),
      carrier,
      seed: SEED,
      misbehaviours: { [name]: MISBEHAVIOURS[name].default },
      script: [TONE, { do: 'silence', ms: 1500 }, { do: 'hangUp' }],
    })
    const report = await call.ended
    expect(report.closed.by).toBe('caller')
    expect(report.receivedMs).toBeGreaterThan(300)
    expect(report.turns.length).toBeGreaterThan(0)
    expect(report.violations).toEqual([])
  },
)

it.concurrent.each(EACH.filter(([name]) => BREAKING.includes(name)))(
  'a carrier is let go when it is gone: %s as %s',
  async (name, carrier) => {
    const call = new PhoneCall({
      url: url(),
      carrier,
      seed: SEED,
      misbehaviours: { [name]: 2 },
      script: [TONE],
      limitMs: 60_000,
    })
    expect((await call.ended).closed.by).not.toBe('caller')
  },
)

it('leaves no session, counts what was bad, and serves the next', async () => {
  await expectWell()
  const sessions = await views()
  expect(sessions.every(({ outcome }) => outcome?.result === 'ok')).toBe(true)
  expect(sessions.some(({ counters }) => (counters?.badMessages ?? 0) > 10)).toBe(true)
  expect(runner.log.lines.filter(({ level }) => level === 'error')).toEqual([])
})

it('a message that is no text ends no call', async () => {
  const call = new PhoneCall({ url: url() })
  const socket = new WebSocket(url())
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ event: 'start', start: { streamSid: 'MZ2', callSid: 'CA2' } }))
  let answered = false
  socket.on('pong', () => {
    answered = true
  })
  socket.send(Buffer.of(0xff, 0xfe, 0x80), { binary: false })
  socket.ping()
  await until(() => answered, 'the call to go on')
  expect(socket.readyState).toBe(WebSocket.OPEN)
  socket.close()
  await call.close()
})

it('a start of any carrier takes no time, however odd it is', async () => {
  const socket = new WebSocket(url())
  await new Promise((resolve) => socket.once('open', resolve))
  const extra_headers = `a=${' '.repeat(4085)}x\ny`
  socket.send(JSON.stringify({ event: 'start', start: { streamId: 's', callId: 'c' }, extra_headers }))
  await until(async () => (await views()).some(({ transport }) => transport === 'telephony_c'), 'the call')
  socket.close()
  await expectWell()
})

describe('anything that a carrier could say', () => {
  const START = {
    event: 'start',
    streamSid: 'MZ1',
    start: { streamSid: 'MZ1', callSid: 'CA1', mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 } },
  }
  const event = fc.constantFrom(
    'connected',
    'start',
    'media',
    'dtmf',
    'mark',
    'stop',
    'playedStream',
    'error',
  )
  const message = fc.oneof(
    fc.json({ maxDepth: 6 }),
    fc.string(),
    fc
      .record({
        event,
        streamSid: fc.anything(),
        media: fc.anything(),
        dtmf: fc.anything(),
        mark: fc.anything(),
      })
      .map((value) => JSON.stringify(value) ?? 'null'),
    fc
      .record({
        event: fc.constant('media'),
        streamSid: fc.constant('MZ1'),
        media: fc.record({ payload: fc.base64String(), chunk: fc.anything() }),
      })
      .map((value) => JSON.stringify(value)),
    fc.uint8Array({ maxLength: 2000 }),
  )

  /** What a start can hold besides what it must. */
  const extra = fc.record(
    {
      extra_headers: fc.string({ maxLength: 5000 }),
      sequenceNumber: fc.anything(),
      start: fc.record({
        streamSid: fc.constant('MZ1'),
        callSid: fc.string({ minLength: 1 }),
        mediaFormat: fc.anything(),
        customParameters: fc.oneof(fc.object(), fc.dictionary(fc.string(), fc.string({ maxLength: 3000 }))),
      }),
    },
    { requiredKeys: [] },
  )

  it('neither breaks the runner nor leaves anything behind', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(message, { maxLength: 60 }),
        fc.boolean(),
        extra,
        async (messages, begins, extras) => {
          const socket = new WebSocket(url())
          socket.on('error', () => {})
          await new Promise((resolve) => socket.once('open', resolve))
          if (begins) socket.send(JSON.stringify({ ...START, ...extras }))
          for (const one of messages) socket.send(one)
          await new Promise((resolve) => setTimeout(resolve, 20))
          socket.terminate()
        },
      ),
      { numRuns: 60, seed: SEED },
    )
    await expectWell()
  })
})
