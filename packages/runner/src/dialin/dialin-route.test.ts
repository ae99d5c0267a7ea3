import { createHmac } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { RunnerConfig } from '../config.ts'
import { ReportingRunner } from '../testing/reporting-bot.ts'
import { RoomProviderDouble } from '../testing/room-provider-double.ts'

const KEY = 'room-key-1234567890'
const PATH = '/daily-dialin-webhook'
const CALL = { From: '+15550001111', To: '+15550002222', callId: 'call-1', callDomain: 'domain-1' }

let provider: RoomProviderDouble
let bots: ReportingRunner
beforeEach(async () => {
  provider = new RoomProviderDouble(KEY)
  await provider.listen()
})
afterEach(async () => {
  await bots.close()
  await provider.close()
})

async function start(config: Partial<RunnerConfig> = {}): Promise<void> {
  const room = { apiKey: KEY, apiUrl: provider.apiUrl, ...config.room }
  bots = await ReportingRunner.start({ dialin: true, ...config, room })
}

it('starts a bot in a SIP room, with what it needs to fetch its caller, whatever -t says', async () => {
  await start({ transport: 'webrtc' })
  const response = await bots.runner.post(PATH, { ...CALL, sipHeaders: { 'X-Agent': 'sales' } })
  expect(response.status).toBe(200)
  const { roomUrl, sessionId } = (await response.json()) as { roomUrl: string; sessionId: string }
  const args = await bots.report(sessionId)
  expect(args).toMatchObject({ variant: 'room', roomUrl })
  expect(args.body).toEqual({
    dialin_settings: {
      call_id: 'call-1',
      call_domain: 'domain-1',
      From: '+15550001111',
      To: '+15550002222',
      sip_headers: { 'X-Agent': 'sales' },
    },
    room_api_key: KEY,
    room_api_url: provider.apiUrl,
  })
  const [room] = provider.rooms.values()
  expect(room?.properties.sip).toMatchObject({ display_name: '+15550001111', sip_mode: 'dial-in' })
  expect(JSON.stringify(bots.runner.log.lines)).not.toContain(KEY)
})

it('serves a caller once, however often it is told of it', async () => {
  await start()
  const answers = await Promise.all([1, 2, 3].map(async () => (await bots.runner.post(PATH, CALL)).json()))
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
  expect(provider.rooms.size).toBe(1)
  await bots.runner.post(PATH, { ...CALL, callId: 'call-2' })
  expect(provider.rooms.size).toBe(2)
})

it('answers the test of the provider, and starts nothing', async () => {
  await start()
  const response = await bots.runner.post(PATH, { test: 'test' })
  expect([response.status, await response.json()]).toEqual([200, { status: 'OK' }])
  expect(provider.seen).toEqual([])
  expect(await bots.reports()).toEqual([])
})

it.each([
  ['not JSON', 'From=1'],
  ['nothing', ''],
  ['without a caller', { ...CALL, From: undefined }],
  ['of other types', { ...CALL, callId: 7 }],
])('refuses a body that is %s', async (_, body) => {
  await start()
  const response = await bots.runner.post(PATH, body)
  expect(response.status).toBe(422)
  expect(provider.seen).toEqual([])
})

it('is a 502 when there can be no room, and leaves no session', async () => {
  await start()
  provider.mood = 'refusing'
  const response = await bots.runner.post(PATH, CALL)
  expect(response.status).toBe(502)
  expect(await response.text()).not.toContain(KEY)
  expect(bots.runner.runner.sessions).toBe(0)
})

it('is not there without --dialin', async () => {
  await start({ dialin: false })
  expect((await bots.runner.post(PATH, CALL)).status).toBe(404)
})

describe('with a secret', () => {
  const secret = Buffer.from('a secret that both know').toString('base64')
  const signed = (body: string) => {
    const time = String(Math.floor(Date.now() / 1000))
    const hmac = createHmac('sha256', Buffer.from(secret, 'base64')).update(`${time}.${body}`)
    return { 'X-Pinless-Timestamp': time, 'X-Pinless-Signature': hmac.digest('base64') }
  }

  it('takes what is signed, also where origins are asked for, and nothing else', async () => {
    await start({ room: { dialinSecret: secret }, allowedOrigins: ['https://app.example'] })
    const body = JSON.stringify(CALL)
    expect((await bots.runner.post(PATH, body, signed(body))).status).toBe(200)
    expect((await bots.runner.post(PATH, body)).status).toBe(403)
    expect((await bots.runner.post(PATH, body.replace('call-1', 'call-2'), signed(body))).status).toBe(403)
    expect(provider.rooms.size).toBe(1)
  })
})
