import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunnerConfig } from '../config.ts'
import { startDirect } from '../direct.ts'
import { LogCapture } from '../testing/log-capture.ts'
import { ReportingRunner } from '../testing/reporting-bot.ts'
import { RoomProviderDouble } from '../testing/room-provider-double.ts'
import { botFolder, ECHO, RunnerFixture, testConfig, until } from '../testing/runner-fixture.ts'

const KEY = 'room-key-1234567890'

let provider: RoomProviderDouble
let reporting: ReportingRunner | undefined
beforeEach(async () => {
  provider = new RoomProviderDouble(KEY)
  await provider.listen()
})
afterEach(async () => {
  await reporting?.close()
  reporting = undefined
  await provider.close()
})

async function start(config: Partial<RunnerConfig> = {}): Promise<ReportingRunner> {
  const room = { apiKey: KEY, apiUrl: provider.apiUrl, ...config.room }
  reporting = await ReportingRunner.start({ ...config, room })
  return reporting
}

describe('/start for a room', () => {
  it('makes a room, gives the browser a token and the bot another one', async () => {
    const bots = await start()
    const { runner } = bots
    const answer = await runner.start({
      transport: 'room',
      createRoom: true,
      roomProperties: { start_video_off: true },
      meetingTokenProperties: { user_name: 'Ada' },
      body: { topic: 'weather' },
    })
    expect(Object.keys(answer).sort()).toEqual(['roomToken', 'roomUrl', 'sessionId'])
    const args = await bots.report(answer.sessionId ?? '')
    expect(args).toMatchObject({ variant: 'room', roomUrl: answer.roomUrl, body: { topic: 'weather' } })
    expect(provider.tokens.get(String(args.token))).toMatchObject({ is_owner: true })
    expect(provider.tokens.get(answer.roomToken ?? '')).toMatchObject({ is_owner: false, user_name: 'Ada' })
    const [room] = provider.rooms.values()
    expect(room?.properties).toMatchObject({ start_video_off: true, eject_at_room_exp: true })
    expect(provider.complaints).toEqual([])
    expect(await runner.session(answer.sessionId ?? '')).toMatchObject({ transport: 'room', state: 'active' })
  })

  it('ends with the bot, or when it is stopped', async () => {
    const bots = await start()
    const { runner } = bots
    const first = await runner.start({ transport: 'room', body: { leave: true } })
    expect((await runner.ended(first.sessionId ?? '')).outcome?.cause).toBe('bot_returned')
    const second = await runner.start({ transport: 'room' })
    await bots.report(second.sessionId ?? '')
    await runner.request(`/sessions/${second.sessionId}`, { method: 'DELETE' })
    expect((await runner.ended(second.sessionId ?? '')).outcome?.cause).toBe('stopped')
  })

  it('uses the room of ROOM_SAMPLE_ROOM_URL', async () => {
    provider.addRoom('always')
    const bots = await start({ room: { sampleRoomUrl: 'https://rooms.example/always' } })
    const { runner } = bots
    const answer = await runner.start({ transport: 'room' })
    expect(answer.roomUrl).toBe('https://rooms.example/always')
    expect(provider.rooms.size).toBe(1)
  })

  it.each(['refusing', 'broken', 'garbled'] as const)(
    'is a 502 without the key, a bot or a session when the provider is %s',
    async (mood) => {
      const bots = await start()
      const { runner } = bots
      provider.mood = mood
      const response = await runner.post('/start', { transport: 'room' })
      expect(response.status).toBe(502)
      const text = await response.text()
      expect(JSON.parse(text)).toMatchObject({ code: 'provider_failed' })
      expect(text + JSON.stringify(runner.log.lines)).not.toContain(KEY)
      expect((await (await runner.request('/sessions')).json()) as object).toEqual({ sessions: [] })
      expect(await bots.reports()).toEqual([])
    },
  )
})

describe('GET /daily', () => {
  it('makes a fresh room with a bot in it and sends the browser there', async () => {
    provider.addRoom('always')
    const bots = await start({ room: { sampleRoomUrl: 'https://rooms.example/always' } })
    const { runner } = bots
    const response = await runner.request('/daily')
    expect(response.status).toBe(307)
    const target = new URL(response.headers.get('location') ?? '')
    expect(target.pathname).not.toBe('/always')
    expect(provider.tokens.get(target.searchParams.get('t') ?? '')).toMatchObject({ is_owner: false })
    const { sessions } = (await (await runner.request('/sessions')).json()) as {
      sessions: { sessionId: string }[]
    }
    const args = await bots.report(sessions[0]?.sessionId ?? '')
    expect(args).toMatchObject({ roomUrl: `${target.origin}${target.pathname}`, body: {} })
  })

  it.each([
    ['is only asked about', { method: 'HEAD' }],
    ['is fetched in advance', { headers: { 'Sec-Purpose': 'prefetch;prerender' } }],
    ['is fetched in advance by another browser', { headers: { 'X-Moz': 'prefetch' } }],
    ['is the image of some page', { headers: { 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' } }],
  ])('makes no room when it %s', async (_, init) => {
    const bots = await start()
    const { runner } = bots
    expect((await runner.request('/daily', init)).status).toBe(405)
    expect(provider.rooms.size).toBe(0)
  })

  it('is 400 when -t turned rooms off', async () => {
    const bots = await start({ transport: 'webrtc' })
    const { runner } = bots
    expect((await runner.request('/daily')).status).toBe(400)
    expect((await runner.post('/start', { transport: 'room' })).status).toBe(400)
  })
})

it('a runner that stops does not wait for the provider', async () => {
  const bots = await start()
  provider.mood = 'silent'
  const answer = bots.runner.post('/start', { transport: 'room' })
  await until(() => provider.seen.length > 0, 'the provider to be asked')
  await bots.runner.runner.close({ deadlineMs: 1000 })
  expect((await answer).status).toBe(503)
})

it.each(['/start', '/daily'])('without a key, %s names ROOM_API_KEY', async (path) => {
  reporting = await ReportingRunner.start()
  const { runner } = reporting
  const response =
    path === '/start' ? await runner.post(path, { transport: 'room' }) : await runner.request(path)
  expect(response.status).toBe(501)
  expect(await response.json()).toMatchObject({
    code: 'not_configured',
    error: expect.stringContaining('ROOM_API_KEY'),
  })
})

it('a JavaScript bot that wants a transport in a room is told what works instead', async () => {
  const runner = await RunnerFixture.start(ECHO, { room: { apiKey: KEY, apiUrl: provider.apiUrl } })
  const { sessionId = '' } = await runner.start({ transport: 'room' })
  const { outcome } = await runner.ended(sessionId)
  expect(outcome).toMatchObject({ cause: 'bot_failed', message: expect.stringContaining('no SDK for Node') })
  await runner.close()
})

describe('directly, without a server', () => {
  const room = () => ({ apiKey: KEY, apiUrl: provider.apiUrl })
  const WAITING = `export const bot = () => new Promise((resolve) => setTimeout(resolve, 60_000))\n`

  it('a bot joins a room and leaves it with the end', async () => {
    const folder = await botFolder(WAITING)
    const log = new LogCapture()
    const config = testConfig(join(folder, 'bot.ts'), { room: room() })
    const direct = await startDirect(config, { logger: log.logger })
    const token = new URL(direct.joinUrl).searchParams.get('t') ?? ''
    expect(provider.tokens.get(token)).toMatchObject({ is_owner: false })
    expect(direct.sessions).toBe(1)
    await direct.close({ deadlineMs: 500 })
    expect((await direct.ended).outcome?.cause).toBe('shutdown')
    expect(JSON.stringify(log.lines)).not.toContain(token)
    await rm(folder, { recursive: true })
  })

  it('the session is over when the bot is', async () => {
    const config = testConfig(ECHO, { room: room() })
    const direct = await startDirect(config, { logger: new LogCapture().logger })
    expect((await direct.ended).outcome).toMatchObject({ result: 'failed', cause: 'bot_failed' })
    await direct.close({ deadlineMs: 0 })
  })

  it('a provider that is silent does not hold up the end', async () => {
    provider.mood = 'silent'
    const stop = new AbortController()
    const { logger } = new LogCapture()
    const starting = startDirect(testConfig(ECHO, { room: room() }), { logger, signal: stop.signal })
    const outcome = starting.catch((error: Error) => error.message)
    await until(() => provider.seen.length > 0, 'the provider to be asked')
    const at = performance.now()
    stop.abort()
    expect(await outcome).toContain('stopped while it started')
    // Its own limit is ten seconds, so this can only be without it.
    expect(performance.now() - at).toBeLessThan(9000)
  })

  it('a provider that refuses is a failure to start', async () => {
    provider.mood = 'refusing'
    const starting = startDirect(testConfig(ECHO, { room: room() }), { logger: new LogCapture().logger })
    await expect(starting).rejects.toMatchObject({ name: 'RunnerError', code: 'room_unavailable' })
  })
})
