import { PhoneCall } from '@botcli/media/phone'
import type { AgentLogEntry, SessionRecord } from '@botcli/protocol/cloud'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Engine, InstanceSpec } from '../../../cloud/src/engine/engine.ts'
import { EventSource } from '../../../cloud/src/testing/event-source.ts'
import { CHROMIUM } from '../../../runner/src/testing/chromium.ts'
import { RoomProviderDouble } from '../../../runner/src/testing/room-provider-double.ts'
import { until } from '../../../runner/src/testing/runner-fixture.ts'
import { PublishedPage } from '../testing/published-page.ts'
import { TalkHouse } from '../testing/talk-house.ts'
import { type Told, tellingProject } from '../testing/telling-bots.ts'
import { TellingCaller } from '../testing/telling-caller.ts'

const ROOM_KEY = 'room-key-1234567890'
const WORD = 'open-sesame'
const SECRET_SET = 'teller'
const TELLERS = ['teller', 'teller-python'] as const
/** An agent whose sessions are short: shorter than the API allows, so that nobody waits for a minute. */
const SHORT = 'short'
const SHORT_SECONDS = 2

/** Called by everybody who wants to know what a session has told. */
const CALLED = 'called with '

let house: TalkHouse
let rooms: RoomProviderDouble
beforeAll(async () => {
  rooms = new RoomProviderDouble(ROOM_KEY)
  await rooms.listen()
  house = await TalkHouse.open({ engine: withShortSessions })
  const values = [`ROOM_API_KEY=${ROOM_KEY}`, `ROOM_API_URL=${rooms.apiUrl}`, `WORD=${WORD}`]
  await house.botcli(['secrets', 'set', SECRET_SET, ...values])
  const deploy = (language: 'typescript' | 'python', agent: string) =>
    house.deploy({ files: tellingProject(language, { agent, secretSet: SECRET_SET }) })
  await Promise.all([deploy('typescript', 'teller'), deploy('python', 'teller-python')])
  await deploy('typescript', SHORT)
}, 300_000)
afterAll(async () => {
  await house.close()
  await rooms.close()
})

function withShortSessions(engine: Engine): Engine {
  const start = (spec: InstanceSpec) => {
    const isShort = spec.settings.agentName === SHORT
    const settings = { ...spec.settings, ...(isShort && { maxSessionSeconds: SHORT_SECONDS }) }
    return engine.start({ ...spec, settings })
  }
  return new Proxy(engine, {
    get: (target, name) => {
      if (name === 'start') return start
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** What the bot of a session has written of its call into the log. */
async function toldInLog(agent: string, sessionId: string): Promise<Told> {
  const line = await until(
    async () => (await house.logs(agent, sessionId)).find(({ log }) => log.startsWith(CALLED)),
    'the bot to tell',
  )
  return JSON.parse(line.log.slice(CALLED.length)) as Told
}

/** The whole log of a session, as one who follows it sees it, and the last event. */
async function followed(agent: string, sessionId: string) {
  const stream = await EventSource.open(
    `${house.url}/v1/agents/${agent}/logs?limit=100&sessionId=${sessionId}`,
    { authorization: `Bearer ${house.privateKey}` },
  )
  onTestFinished(() => stream.cut())
  return {
    over: async () => {
      await stream.until(() => stream.end !== undefined)
      const entries = stream.events.filter(({ id, data }) => id !== undefined && data !== undefined)
      return {
        texts: entries.map(({ data }) => (JSON.parse(data ?? '') as AgentLogEntry).log),
        session: stream.end as SessionRecord,
      }
    },
  }
}

describe('a deployed bot', () => {
  it.each(TELLERS)('%s is told who calls, and that this is not a development machine', async (agent) => {
    const caller = await TellingCaller.dial(house, agent, { who: 'Ada', deep: { list: [1, null, 'ü'] } })
    const { sessionId } = caller
    const told = await caller.ask('tell')
    expect(told).toMatchObject({
      ...{ sessionId, variant: 'websocket', transportType: 'websocket' },
      body: { who: 'Ada', deep: { list: [1, null, 'ü'] } },
    })
    expect(told).toMatchObject({ word: WORD })
    expect(told.env).not.toBe('local')
    const { connectedAt } = await house.active(agent, sessionId)
    expect(connectedAt).not.toBeNull()
    const [newest] = await house.sessions(agent)
    expect(newest).toMatchObject({ sessionId, state: 'active', transport: 'websocket', endedAt: null })
    caller.hangUp()
    const session = await house.ended(agent, sessionId)
    expect(session).toMatchObject({ completionStatus: 'client_left', outcome: { result: 'ok' } })
    expect(session.durationSeconds).toBeGreaterThan(0)
  })

  it.each(TELLERS)('%s is told of a call', async (agent) => {
    const { sessionId, wsUrl = '' } = await house.start(agent, { transport: 'telephony_b', body: { a: '1' } })
    const call = new PhoneCall({ url: wsUrl, carrier: 'telephony_b', limitMs: 80_000 })
    const told = await toldInLog(agent, sessionId)
    expect(told).toMatchObject({ sessionId, variant: 'websocket', transportType: 'telephony_b' })
    expect(told.body).toMatchObject({ a: '1' })
    await call.close()
    expect(await house.ended(agent, sessionId)).toMatchObject({ completionStatus: 'client_left' })
  })

  it.each(TELLERS)('%s gets a room of its own, and its caller a token', async (agent) => {
    const answer = await house.start(agent, { transport: 'room', createRoom: true, body: { who: 'Ada' } })
    const { sessionId, roomUrl = '', roomToken = '' } = answer
    expect(Object.keys(answer).sort()).toEqual(['roomToken', 'roomUrl', 'sessionId'])
    expect(rooms.rooms.has(roomUrl.split('/').at(-1) ?? '')).toBe(true)
    expect(rooms.tokens.get(roomToken)).toMatchObject({ is_owner: false })
    expect(await toldInLog(agent, sessionId)).toMatchObject({
      ...{ sessionId, variant: 'room', roomUrl, body: { who: 'Ada' } },
    })
    expect(await house.active(agent, sessionId)).toMatchObject({ transport: 'room' })
    await house.ask('DELETE', `/v1/agents/${agent}/sessions/${sessionId}`)
    const session = await house.session(agent, sessionId)
    expect(session).toMatchObject({ completionStatus: 'stopped', outcome: { result: 'ok' } })
    expect(session.durationSeconds).toBeGreaterThan(0)
    expect(rooms.complaints).toEqual([])
    const everything = JSON.stringify([await house.logs(agent), house.told])
    for (const secret of [ROOM_KEY, WORD]) expect(everything).not.toContain(secret)
  })
})

describe.skipIf(CHROMIUM === undefined)('a deployed bot and a browser', () => {
  let page: PublishedPage
  beforeAll(async () => {
    page = await PublishedPage.open()
  })
  afterAll(() => page.close())

  it.each(TELLERS)('%s is told what the page gave to /start', async (agent) => {
    const endpoint = `${house.url}/v1/public/${agent}/start`
    const call = { endpoint, key: house.publicKey, body: { who: 'Ada' } }
    const sessionId = await page.connect({ transport: 'webrtc', ...call })
    const told = (await page.request('tell', null)) as Told
    expect(told).toMatchObject({ sessionId, variant: 'webrtc', body: { who: 'Ada' } })
    expect(told.env).not.toBe('local')
    expect(await house.active(agent, sessionId)).toMatchObject({ transport: 'webrtc' })
    await page.disconnect()
    expect(await house.ended(agent, sessionId)).toMatchObject({ completionStatus: 'client_left' })
  })
})

describe('a session ends', () => {
  const ends = {
    client_left: async (caller: TellingCaller) => caller.hangUp(),
    bot_returned: async (caller: TellingCaller) => void (await caller.ask('leave')),
    stopped: async ({ sessionId }: TellingCaller, agent: string) => {
      const answer = await house.ask('DELETE', `/v1/agents/${agent}/sessions/${sessionId}`)
      expect(answer).toMatchObject({ session: { state: 'ended', completionStatus: 'stopped' } })
    },
    time_limit: async () => {},
  } as const

  it.each([
    ...TELLERS.flatMap((agent) => [
      [agent, 'client_left'] as const,
      [agent, 'bot_returned'] as const,
      [agent, 'stopped'] as const,
    ]),
    [SHORT, 'time_limit'] as const,
  ])('%s: by %s, and whoever follows its log sees all of it', async (agent, cause) => {
    const caller = await TellingCaller.dial(house, agent)
    const { sessionId } = caller
    const follower = await followed(agent, sessionId)
    await ends[cause](caller, agent)
    await caller.ended()
    const { texts, session } = await follower.over()
    expect(session).toMatchObject({ sessionId, state: 'ended', completionStatus: cause })
    expect(session.outcome).toMatchObject({ result: 'ok', cause, message: expect.stringMatching(/\.$/) })
    expect(session.durationSeconds).toBeGreaterThan(0)
    expect(session).toEqual(await house.session(agent, sessionId))
    expect(texts.filter((text) => text.startsWith('session over: '))).toHaveLength(1)
    if (cause === 'client_left' || cause === 'bot_returned') expect(texts).toContain('the last word')
    expect(texts).toEqual((await house.logs(agent, sessionId)).map(({ log }) => log))
  })
})

it.each(TELLERS)('two calls of %s at the same time have a log each', async (agent) => {
  const callers = await Promise.all([TellingCaller.dial(house, agent), TellingCaller.dial(house, agent)])
  const words = ['apple', 'pear']
  for (const [index, caller] of callers.entries()) await caller.ask('print', `says ${words[index]}`)
  for (const caller of callers) {
    await caller.ask('leave')
    // Its last event says that the log is complete.
    await (await followed(agent, caller.sessionId)).over()
  }
  const logs = await Promise.all(callers.map(({ sessionId }) => house.logs(agent, sessionId)))
  for (const [index, log] of logs.entries()) {
    expect(log.filter((entry) => entry.log.startsWith('says ')).map((entry) => entry.log)).toEqual([
      `says ${words[index]}`,
    ])
    expect(new Set(log.map(({ sessionId }) => sessionId))).toEqual(new Set([callers[index]?.sessionId]))
  }
})
