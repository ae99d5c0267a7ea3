import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebrtcTestClient } from '../../../media/src/testing/webrtc-client.ts'
import type { RunnerConfig } from '../config.ts'
import { ReportingRunner } from '../testing/reporting-bot.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'
import { toneShare } from '../testing/websocket-client.ts'
import {
  connectPayload,
  terminatePayload,
  WHATSAPP_CONFIG,
  WhatsappDouble,
} from '../testing/whatsapp-double.ts'

let sender: WhatsappDouble
let runner: RunnerFixture
beforeEach(async () => {
  sender = new WhatsappDouble()
  await sender.listen()
})
afterEach(async () => {
  await runner.close()
  await sender.close()
})

async function start(bot = ECHO, config: Partial<RunnerConfig> = {}): Promise<void> {
  runner = await RunnerFixture.start(bot, { whatsapp: sender.config, ...config })
}

/** A webhook call of the provider, as it makes it. */
function tell(payload: unknown, secret?: string): Promise<Response> {
  const { body, header } = sender.webhook(payload, secret)
  return runner.post('/whatsapp', body.toString(), {
    'X-Hub-Signature-256': header('x-hub-signature-256') ?? '',
  })
}

/** Somebody who calls: the SDP goes by webhook, and the answer comes by the call that accepts. */
function caller(id: string): WebrtcTestClient {
  return new WebrtcTestClient({
    signal: async (sdp) => {
      const response = await tell(connectPayload(id, { session: { sdp, sdp_type: 'offer' } }))
      expect(response.status).toBe(200)
      return until(() => answerTo(id), 'the call to be accepted')
    },
  })
}

function answerTo(id: string): string | undefined {
  const accepts = sender.seen
    .map(({ body }) => JSON.parse(body) as { action: string; call_id: string; session?: { sdp: string } })
    .filter(({ action, call_id }) => action === 'accept' && call_id === id)
  return accepts[0]?.session?.sdp
}

it('takes a call, carries its sound both ways, and ends it when the caller hangs up', async () => {
  await start()
  const client = caller('wacid.1')
  await client.connect()
  while (client.heard.length < 0.8 * 16_000) await client.sendTone(440, 500)
  expect(toneShare([...client.heard.slice(4800, 12_800)], 440, 16_000)).toBeGreaterThan(0.6)
  expect(sender.actions).toEqual(['pre_accept wacid.1', 'accept wacid.1'])
  expect((await tell(terminatePayload('wacid.1'))).status).toBe(200)
  await until(() => runner.runner.sessions === 0, 'the session to end')
  expect(sender.actions).toHaveLength(2)
  expect(sender.complaints).toEqual([])
  client.close()
})

it('terminates a call when its bot is done', async () => {
  await start(
    'export async function bot() {\n  await new Promise((resolve) => setTimeout(resolve, 500))\n}\n',
  )
  const client = caller('wacid.2')
  await client.connect()
  await until(() => sender.actions.includes('terminate wacid.2'), 'the call to be terminated')
  expect(sender.actions.filter((action) => action.startsWith('terminate'))).toHaveLength(1)
  client.close()
})

it('terminates running calls when the runner stops', async () => {
  await start()
  const client = caller('wacid.3')
  await client.connect()
  await runner.runner.close({ deadlineMs: 1000 })
  expect(sender.actions.at(-1)).toBe('terminate wacid.3')
  client.close()
})

it('tells the bot who calls', async () => {
  const bots = await ReportingRunner.start({ whatsapp: sender.config })
  runner = bots.runner
  const client = caller('wacid.4')
  await client.connect()
  const [args] = await until(async () => {
    const reports = await bots.reports()
    return reports.length > 0 ? reports : undefined
  }, 'the bot to start')
  expect(args).toMatchObject({
    variant: 'webrtc',
    body: {
      id: 'wacid.4',
      event: 'connect',
      from: '15550001111',
      to: '15550002222',
      direction: 'USER_INITIATED',
      timestamp: '1762216151',
      contact: { name: 'Ada', wa_id: '15550001111' },
    },
  })
  client.close()
  await bots.close()
})

it('rejects a call whose offer makes no sense, and leaves nothing', async () => {
  await start()
  expect((await tell(connectPayload('wacid.5'))).status).toBe(200)
  await until(() => sender.actions.includes('reject wacid.5'), 'the call to be rejected')
  await until(() => runner.runner.sessions === 0, 'the session to end')
})

it('believes only what is signed, before it reads it', async () => {
  await start()
  expect((await tell(connectPayload(), 'another secret')).status).toBe(403)
  expect((await runner.post('/whatsapp', 'not even JSON')).status).toBe(403)
  expect((await tell('not even JSON')).status).toBe(422)
  expect(sender.seen).toEqual([])
})

it('answers the verification of the provider', async () => {
  await start(ECHO, { allowedOrigins: ['https://app.example'] })
  const ask = (token: string) =>
    runner.request(`/whatsapp?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`)
  const good = await ask(WHATSAPP_CONFIG.verificationToken)
  expect([good.status, await good.text()]).toEqual([200, '1158201444'])
  expect((await ask('guess')).status).toBe(403)
})

it('is off without --whatsapp, and says so', async () => {
  runner = await RunnerFixture.start(ECHO)
  const response = await runner.post('/whatsapp', {})
  expect(response.status).toBe(501)
  expect(await response.json()).toMatchObject({ error: expect.stringContaining('--whatsapp') })
})
