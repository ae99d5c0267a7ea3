import { PhoneCall, type PhoneCallOptions } from '@botcli/media/phone'
import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { RunnerConfig } from '../config.ts'
import { GOODBYE_BOT } from '../testing/phone-bots.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

let runner: RunnerFixture
afterEach(async () => {
  await until(() => runner.runner.sessions === 0, 'all sessions to end')
  await runner.close()
})

async function start(config: Partial<RunnerConfig> = {}, bot = ECHO): Promise<void> {
  runner = await RunnerFixture.start(bot, config)
}

const url = (path = '/ws') => `${runner.url.replace('http', 'ws')}${path}`

const dial = (options: Partial<PhoneCallOptions> = {}) =>
  new PhoneCall({ url: url(), limitMs: 10_000, ...options }).ended

/** Says these things at the door, and waits for the answer. */
function answerTo(messages: readonly (string | Buffer)[]): Promise<{ code: number; reason: string }> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url())
    socket.on('error', reject)
    socket.on('open', () => {
      for (const message of messages) socket.send(message)
    })
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
}

describe('who is no carrier', () => {
  it('is told so after a few messages, or when nothing comes', async () => {
    await start()
    const strangers = Array.from({ length: 10 }, () => '{"event":"hello"}')
    const [noisy, quiet] = await Promise.all([answerTo(strangers), answerTo([])])
    expect(noisy).toMatchObject({ code: 1008, reason: expect.stringContaining('carrier') })
    expect(quiet).toMatchObject({ code: 1008, reason: expect.stringContaining('5 seconds') })
    expect(runner.log.lines.filter(({ level }) => level === 'error')).toEqual([])
  })

  it('is told so when it does not even speak WebSocket', async () => {
    await start()
    expect((await runner.request('/ws')).status).toBe(426)
    expect((await runner.post('/ws', {})).status).toBe(405)
  })

  it('may leave before it has said anything', async () => {
    await start()
    const socket = new WebSocket(url())
    await new Promise((resolve) => socket.once('open', resolve))
    socket.terminate()
    await until(() => runner.runner.sessions === 0, 'its session to go')
    expect(await (await runner.request('/sessions')).json()).toEqual({ sessions: [] })
  })
})

it('a carrier that -t turned off is told which one is on; /ws itself is always there', async () => {
  await start({ transport: 'telephony_a' })
  const { closed } = await dial({ carrier: 'telephony_b' })
  expect(closed).toMatchObject({ by: 'runner', code: 1008 })
  expect(closed.reason).toContain('only telephony_a is served')
  await runner.close()
  await start({ transport: 'webrtc' })
  expect((await dial()).closed).toMatchObject({ code: 1008, reason: expect.stringContaining('no carrier') })
})

it('a codec that is not understood is named, with what is', async () => {
  await start()
  const start_ = {
    event: 'start',
    stream_id: 's',
    start: { call_control_id: 'c', media_format: { encoding: 'AMR-WB', sample_rate: 16000, channels: 1 } },
  }
  const answer = await answerTo([JSON.stringify(start_)])
  expect(answer.code).toBe(1008)
  expect(answer.reason).toMatch(/AMR-WB.*PCMU, PCMA or L16/)
})

it('a caller who is not recognised yet is told how its session ended', async () => {
  await start()
  const socket = new WebSocket(url())
  const closed = new Promise<number>((resolve) => socket.on('close', resolve))
  await new Promise((resolve) => socket.once('open', resolve))
  const id = await until(async () => {
    const { sessions } = (await (await runner.request('/sessions')).json()) as {
      sessions: { sessionId: string; transport?: string }[]
    }
    return sessions.find(({ transport }) => transport === undefined)?.sessionId
  }, 'its session')
  await runner.request(`/sessions/${id}`, { method: 'DELETE' })
  expect(await closed).toBe(4000)
})

it('an announced call is for its carrier, and for one call', async () => {
  await start()
  const { wsUrl = '' } = await runner.start({ transport: 'telephony_a', body: { a: 1 } })
  const wrong = await dial({ url: wsUrl, carrier: 'telephony_c' })
  expect(wrong.closed).toMatchObject({ code: 1008, reason: expect.stringContaining('only telephony_a') })
  const call = new PhoneCall({ url: wsUrl })
  await until(() => call.events.some(({ type }) => type === 'started'), 'the call to begin')
  await until(async () => (await dial({ url: wsUrl })).refused?.status === 409, 'the second to be refused')
  await call.close()
  await until(() => runner.runner.sessions === 0, 'the session to end')
  const { refused } = await dial({ url: wsUrl })
  expect(refused?.status).toBe(404)
})

it('a session of another kind has no address for calls', async () => {
  await start()
  const { sessionId } = await runner.start({ transport: 'websocket' })
  expect((await dial({ url: url(`/sessions/${sessionId}/ws`) })).refused?.status).toBe(409)
  await runner.request(`/sessions/${sessionId}`, { method: 'DELETE' })
})

it('too many calls are refused before they are answered', async () => {
  await start({ maxSessions: 1 })
  const call = new PhoneCall({ url: url() })
  await until(() => call.events.some(({ type }) => type === 'answered'), 'the call to be answered')
  expect((await dial()).refused?.status).toBe(429)
  expect((await runner.post('/start', { transport: 'telephony_a' })).status).toBe(429)
  await call.close()
})

it('with a list of origins, a call needs an origin or an address of its own', async () => {
  const origin = 'https://app.example'
  await start({ allowedOrigins: [origin] }, GOODBYE_BOT)
  // A program of this machine may be an eval, and is refused when it turns out to be something else.
  expect((await dial()).closed).toMatchObject({
    code: 1008,
    reason: expect.stringContaining('no Origin header'),
  })
  const passedOn = { 'X-Forwarded-For': '192.0.2.1' }
  expect(await WebsocketClient.refusal(url(), passedOn)).toMatchObject({ status: 403 })
  expect(await WebsocketClient.refusal(url(), { Origin: 'https://evil.example' })).toMatchObject({
    status: 403,
  })
  const response = await runner.post('/start', { transport: 'telephony_d', body: {} }, { Origin: origin })
  const { wsUrl } = (await response.json()) as { wsUrl: string }
  const { closed } = await dial({ url: wsUrl, carrier: 'telephony_d' })
  expect(closed).toMatchObject({ by: 'runner', code: 1000 })
})
