import { PhoneCall } from '@botcli/media/phone'
import type { CarrierId } from '@botcli/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunnerConfig } from '../config.ts'
import { CARRIER_CREDENTIALS, CarrierApiDouble } from '../testing/carrier-api-double.ts'
import { GOODBYE_BOT, TALKATIVE_BOT } from '../testing/phone-bots.ts'
import { childrenOf } from '../testing/processes.ts'
import { RunnerFixture, until } from '../testing/runner-fixture.ts'

const CARRIERS = ['telephony_a', 'telephony_b', 'telephony_c'] as const

let api: CarrierApiDouble
let runner: RunnerFixture
beforeEach(async () => {
  api = new CarrierApiDouble()
  await api.listen()
})
afterEach(async () => {
  await runner.close()
  await api.close()
})

async function start(bot: string, config: Partial<RunnerConfig> = {}): Promise<void> {
  const telephony = { ...CARRIER_CREDENTIALS, apiUrls: api.urls }
  runner = await RunnerFixture.start(bot, { telephony, ...config })
}

/** Dials, and lets the carrier know of the call. */
function dial(
  carrier: CarrierId,
  options: { readonly mood?: string; readonly noStop?: boolean } = {},
): PhoneCall {
  const call = new PhoneCall({
    url: `${runner.url.replace('http', 'ws')}/ws`,
    carrier,
    limitMs: 40_000,
    ...(options.mood && { custom: { mood: options.mood } }),
    ...(options.noStop && { misbehaviours: { 'no-stop': 1 } }),
  })
  api.live.add(call.facts.callId)
  return call
}

const heardBot = (call: PhoneCall) =>
  until(() => call.events.some(({ type }) => type === 'turn_started'), 'the bot to speak')

/** The call was hung up, by one request that the carrier had nothing against. */
async function expectHungUp(call: PhoneCall): Promise<void> {
  await until(() => api.ended.length > 0, 'the call to be hung up')
  await until(() => runner.runner.sessions === 0, 'the session to end')
  expect(api.ended).toEqual([call.facts.callId])
  expect(api.seen).toHaveLength(1)
  expect(api.complaints).toEqual([])
}

describe.each(CARRIERS)('a call of %s is hung up once', (carrier) => {
  it('when the bot is done, and not before its last word was played', async () => {
    await start(GOODBYE_BOT)
    const dialledAt = performance.now()
    let hungUpAt = 0
    api.onRequest = () => {
      hungUpAt = performance.now() - dialledAt
    }
    const call = dial(carrier)
    const report = await call.ended
    await expectHungUp(call)
    expect(report.closed).toMatchObject({ by: 'runner', unplayedMs: 0 })
    const played = report.events.findLast(({ type }) => type === 'mark_played')
    expect(hungUpAt).toBeGreaterThan(played?.at ?? Number.POSITIVE_INFINITY)
  })

  it.each(['throws', 'exits'])('when the bot %s', async (mood) => {
    await start(TALKATIVE_BOT)
    const call = dial(carrier, { mood })
    const report = await call.ended
    await expectHungUp(call)
    expect(report.closed).toMatchObject({ by: 'runner', code: 1011 })
  })

  it.each([false, true])('when the socket went first (without a stop: %s)', async (noStop) => {
    await start(TALKATIVE_BOT)
    const call = dial(carrier, { noStop })
    await heardBot(call)
    await call.close()
    await expectHungUp(call)
  })

  it('when the runner stops', async () => {
    await start(TALKATIVE_BOT)
    const call = dial(carrier)
    await heardBot(call)
    await runner.runner.close({ deadlineMs: 3000 })
    await expectHungUp(call)
    expect((await call.ended).closed).toMatchObject({ by: 'runner', code: 1012 })
  })
})

it('is hung up when the process that held its wire dies', async () => {
  await start(TALKATIVE_BOT)
  const call = dial('telephony_a')
  await heardBot(call)
  for (const pid of childrenOf(process.pid, 'worker/main.js')) process.kill(pid, 'SIGKILL')
  await call.ended
  await expectHungUp(call)
})

it('is hung up with its last stream, and by nobody who only names it', async () => {
  await start(TALKATIVE_BOT)
  const call = dial('telephony_a')
  await heardBot(call)
  const { callId, streamId } = call.facts
  const other = new PhoneCall({ url: call.facts.url, ids: { callId, streamId, accountId: 'AC0' } })
  await heardBot(other)
  await other.close()
  await until(() => runner.runner.sessions === 1, 'the other stream to end')
  expect(api.seen).toEqual([])
  await call.close()
  await expectHungUp(call)
})

it('is hung up when somebody stops its session', async () => {
  await start(TALKATIVE_BOT)
  const call = dial('telephony_b')
  await heardBot(call)
  const { sessions } = (await (await runner.request('/sessions')).json()) as {
    sessions: { sessionId: string }[]
  }
  await runner.request(`/sessions/${sessions[0]?.sessionId}`, { method: 'DELETE' })
  await expectHungUp(call)
})

it('does not matter when it is over already', async () => {
  await start(TALKATIVE_BOT)
  const call = dial('telephony_a')
  api.live.clear()
  await heardBot(call)
  await call.close()
  await until(() => runner.runner.sessions === 0, 'the session to end')
  expect(api.seen).toHaveLength(1)
  expect(runner.log.lines.filter(({ level }) => level === 'error')).toEqual([])
})

it('leaves the session in order when the carrier does not answer', async () => {
  await start(GOODBYE_BOT)
  api.mood = 'silent'
  const call = dial('telephony_c')
  await call.ended
  await until(() => runner.runner.sessions === 0, 'the session to end')
  const line = runner.log.find('the call was not hung up')
  expect(JSON.stringify(line)).not.toContain(CARRIER_CREDENTIALS.c.authToken)
})

it.each(['telephony_a', 'telephony_d'] as const)(
  'is not asked for without credentials: %s',
  async (carrier) => {
    await start(GOODBYE_BOT, { telephony: carrier === 'telephony_d' ? CARRIER_CREDENTIALS : {} })
    const report = await dial(carrier).ended
    expect(report.closed).toMatchObject({ by: 'runner', code: 1000, unplayedMs: 0 })
    await until(() => runner.runner.sessions === 0, 'the session to end')
    expect(api.seen).toEqual([])
  },
)
