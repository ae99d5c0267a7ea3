import { afterEach, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { RunnerConfig } from '../config.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'

const EVAL_CONNECT = {
  label: 'rtvi-ai',
  type: 'client-message',
  id: 'eval-connect',
  data: { t: 'eval-connect', d: {} },
}

let runner: RunnerFixture
afterEach(() => runner.close())

async function start(config: Partial<RunnerConfig> = {}): Promise<void> {
  runner = await RunnerFixture.start(ECHO, config)
}

/** Asks as the harness does, and gives how it was closed, or the status with which it was refused. */
function evaluate(headers: Record<string, string> = {}) {
  return new Promise<{ code: number; reason: string } | number>((resolve, reject) => {
    const socket = new WebSocket(`${runner.url.replace('http', 'ws')}/ws`, { headers })
    socket.on('error', reject)
    socket.on('unexpected-response', (_, { statusCode = 0 }) => resolve(statusCode))
    socket.on('open', () => socket.send(JSON.stringify(EVAL_CONNECT)))
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() }))
  })
}

/** A bot in JavaScript says that it cannot serve evals, which shows that it was asked. */
const SERVED = { code: 1011, reason: expect.stringContaining('eval') }
const REFUSED = { code: 1008, reason: expect.stringContaining('--evals') }

describe('an eval', () => {
  it('is let in from this machine, as a session of its own kind', async () => {
    await start()
    expect(await evaluate()).toEqual(SERVED)
    const { sessions } = (await (await runner.request('/sessions')).json()) as { sessions: object[] }
    expect(sessions).toMatchObject([{ transport: 'eval', outcome: { cause: 'bot_failed' } }])
    const { transports } = (await (await runner.request('/status')).json()) as { transports: string[] }
    expect(transports).not.toContain('eval')
    expect((await runner.post('/start', { transport: 'eval' })).status).toBe(422)
  })

  it('is let in whatever the transport that is served', async () => {
    await start({ transport: 'webrtc' })
    expect(await evaluate()).toEqual(SERVED)
  })

  it.each([
    ['of a page in a browser of this machine', { Origin: 'http://localhost:7860' }],
    ['that a proxy passed on', { 'X-Forwarded-For': '192.0.2.1' }],
    ['that came through a tunnel', { Host: 'bot.example' }],
  ])('%s is refused, and leaves nothing', async (_, headers) => {
    await start()
    expect(await evaluate(headers)).toEqual(REFUSED)
    await until(() => runner.runner.sessions === 0, 'its session to go')
    expect(await (await runner.request('/sessions')).json()).toEqual({ sessions: [] })
  })

  it('is let in from everywhere with --evals, also of pages that may connect', async () => {
    await start({ evals: true })
    expect(await evaluate({ 'X-Forwarded-For': '192.0.2.1' })).toEqual(SERVED)
    expect(await evaluate({ Origin: 'https://app.example' })).toEqual(SERVED)
  })

  it('needs no origin where others do, but must not have a wrong one', async () => {
    await start({ allowedOrigins: ['https://app.example'] })
    expect(await evaluate()).toEqual(SERVED)
    expect(await evaluate({ 'X-Forwarded-For': '192.0.2.1' })).toBe(403)
    expect(await evaluate({ Origin: 'https://evil.example' })).toBe(403)
    expect(await evaluate({ Origin: 'https://app.example' })).toEqual(REFUSED)
    await runner.close()
    await start({ allowedOrigins: ['https://app.example'], evals: true })
    expect(await evaluate({ 'X-Forwarded-For': '192.0.2.1' })).toEqual(SERVED)
    expect(await evaluate({ Origin: 'https://evil.example' })).toBe(403)
  })

  it('has no place at the address of an announced call', async () => {
    await start({ evals: true })
    const { wsUrl = '' } = await runner.start({ transport: 'telephony_a', body: {} })
    const socket = new WebSocket(wsUrl)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('open', () => socket.send(JSON.stringify(EVAL_CONNECT)))
    expect(await closed).toBe(1008)
  })
})
