import { CARRIER_IDS } from '@botcli/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { PhoneHouse } from '../testing/phone-house.ts'
import { until } from '../testing/until.ts'
import type { CallReport } from './call-report.ts'
import { Line } from './line.ts'
import { MISBEHAVIOURS, type Misbehaviours } from './misbehaviours.ts'
import { PhoneCall } from './phone-call.ts'
import { seededRandom } from './random.ts'

let house: PhoneHouse
beforeEach(async () => {
  house = await PhoneHouse.open()
})
afterEach(() => house.close())

async function call(misbehaviours: Misbehaviours, limitMs = 20_000): Promise<CallReport> {
  const { ended } = new PhoneCall({
    url: house.url,
    misbehaviours,
    limitMs,
    script: [{ do: 'speech', ms: 1300 }, { do: 'waitForTurn', limitMs: 5000 }, { do: 'hangUp' }],
  })
  const report = await ended
  await until('the house is empty', () => house.load === 0)
  await until('it knows how the call was', () => house.calls[0]?.report !== undefined)
  return report
}

it.each([
  [{ jitter: 100 }, 0],
  [{ loss: 30 }, 0],
  [{ late: 100 }, 0],
  [{ duplicate: 50 }, 0],
  [{ jitter: 60, loss: 10, late: 80, duplicate: 10 }, 0],
  [{ 'slow-reader': 1 }, 0],
  [{ 'second-start': 1 }, 1],
] as const)('with %j the caller is still served', async (misbehaviours, badMessages) => {
  const { turns, violations, closed } = await call(misbehaviours)
  expect(turns.length).toBeGreaterThan(0)
  expect(violations).toEqual([])
  expect(closed).toMatchObject({ by: 'caller', code: 1000 })
  expect(house.calls[0]?.report?.counters.badMessages).toBe(badMessages)
})

it('counts what it did wrong', async () => {
  const { mischief } = await call({ loss: 20, late: 50, duplicate: 20, malformed: 20 })
  for (const count of Object.values(mischief)) expect(count).toBeGreaterThan(0)
})

it('sends every malformed message of every carrier, and none ends a call', async () => {
  const script = [{ do: 'speech', ms: 1000 }, { do: 'waitForTurn', limitMs: 5000 }, { do: 'hangUp' }] as const
  const calls = CARRIER_IDS.map((carrier) => {
    return new PhoneCall({ url: house.url, carrier, misbehaviours: { malformed: 100 }, script })
  })
  for (const { ended } of calls) {
    const { carrier, mischief, turns, closed, violations } = await ended
    // Carrier D sends a packet only every tenth of a second.
    expect(mischief.malformed).toBeGreaterThan(10)
    expect([carrier, turns.length > 0, closed.by, closed.code, violations]).toEqual([
      carrier,
      true,
      'caller',
      1000,
      [],
    ])
    const seen = () => house.calls.find(({ call }) => call.transport === carrier)
    await until('the house knows how it was', () => seen()?.report !== undefined)
    // An event that a runner does not know, and a good message with strange numbers, are no faults.
    expect(seen()?.report?.counters.badMessages).toBeGreaterThan(mischief.malformed / 2)
  }
})

it('hangs up in time although it does not read', async () => {
  const { closed } = await call({ 'slow-reader': 60 }, 1500)
  expect(closed).toMatchObject({ by: 'caller', code: 1000 })
})

it('hangs up without a word', async () => {
  await call({ 'no-stop': 1 })
  expect(house.calls[0]?.over?.cause).toBe('client_lost')
})

it('closes half of the connection, and the runner gives it up', async () => {
  const { closed, events } = await call({ 'half-closed': 0.5 })
  expect(events.find(({ type }) => type === 'misbehaved')).toBeDefined()
  expect(closed.by).not.toBe('caller')
  expect(house.calls[0]?.over?.cause).toBe('client_lost')
})

it('vanishes: nothing is heard of it any more until the connection is dropped', async () => {
  const { closed } = await call({ vanish: 0.5 }, 2000)
  expect(closed).toMatchObject({ by: 'caller', code: 1006 })
  expect(house.calls[0]?.over?.cause).toBe('client_lost')
  const heardMs = house.calls[0]?.report?.counters.audioInMs ?? 0
  expect(heardMs).toBeLessThan(1500)
})

it('calls twice with the same ids, and both calls end', async () => {
  const { callId, streamId, closed } = await call({ 'same-id': 1 })
  expect(house.calls.map(({ call }) => [call.callId, call.streamId])).toEqual([
    [callId, streamId],
    [callId, streamId],
  ])
  expect(closed.code).toBe(1000)
})

it('is the same for the same seed', () => {
  const sent = (seed: number) => {
    const messages: (string | Uint8Array)[] = []
    const line = new Line({
      misbehaviours: { loss: 20, duplicate: 20, malformed: 20 },
      random: seededRandom(seed),
      clock: () => 0,
      setTimer: () => () => {},
      send: (message) => messages.push(message),
    })
    for (let at = 0; at < 100; at += 1) line.media(`{"media":{"chunk":${at}}}`)
    return messages
  }
  expect(sent(7)).toEqual(sent(7))
  expect(sent(7)).not.toEqual(sent(8))
})

it('keeps the order of what jitter delays, and not of what is late', () => {
  let now = 0
  const timers: { at: number; ring: () => void }[] = []
  const sent: string[] = []
  const line = new Line({
    misbehaviours: { jitter: 50 },
    random: seededRandom(3),
    clock: () => now,
    setTimer: (ring, ms) => {
      timers.push({ at: now + ms, ring })
      return () => {}
    },
    send: (message) => sent.push(String(message)),
  })
  for (let at = 0; at < 50; at += 1) {
    line.media(String(at))
    now += 20
    for (const timer of timers.splice(0)) {
      if (timer.at <= now) timer.ring()
      else timers.push(timer)
    }
  }
  line.flush()
  expect(sent).toEqual(Array.from({ length: 50 }, (_, at) => String(at)))
})

it('has a default within its limits for each', () => {
  for (const { default: usual, min, max } of Object.values(MISBEHAVIOURS)) {
    expect(usual).toBeGreaterThanOrEqual(min)
    expect(usual).toBeLessThanOrEqual(max)
  }
})
