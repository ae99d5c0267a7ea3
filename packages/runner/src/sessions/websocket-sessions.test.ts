import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'
import { toneShare, WebsocketClient } from '../testing/websocket-client.ts'

const TELLS_ITS_ARGUMENTS = `
import { createTransport, type RunnerArguments } from '@botcli/bot'
export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, { websocket: () => ({}) })
  const { sessionId, body, variant, handleSigint, handleSigterm } = args
  const type = args.variant === 'websocket' ? args.transportType : 'none'
  let missing = ''
  try { Reflect.get(args, 'webrtcConnection') } catch (error) { missing = String(error) }
  transport.rtvi.serverMessage({ sessionId, body, variant, type, handleSigint, handleSigterm, missing, env: process.env.ENV })
  await transport.drained()
}
`

describe('plain WebSocket sessions', () => {
  let runner: RunnerFixture
  let base: string
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO)
    base = `${runner.url.replace('http', 'ws')}/ws-client`
  })
  afterAll(() => runner.close())

  it('answers client-ready and echoes sound as sound', async () => {
    const client = await WebsocketClient.connect(base)
    client.sendMessage('client-ready', { version: '2.2.0', about: { library: 'test' } })
    expect((await client.message('bot-ready')).data).toMatchObject({ version: expect.stringMatching(/^2\./) })
    while (client.samples.length < 0.9 * 24_000) await client.sendTone(440, 500)
    expect(toneShare(client.samples.slice(4800, 19_200), 440, 24_000)).toBeGreaterThan(0.6)
    expect(toneShare(client.samples.slice(4800, 19_200), 1000, 24_000)).toBeLessThan(0.05)
    client.close()
  })

  it('tells the delay of an answer by its parts', async () => {
    const client = await WebsocketClient.connect(base)
    client.sendMessage('client-ready', { version: '2.2.0' })
    await client.sendTone(440, 300)
    const { data } = await client.message('metrics')
    const processing = data?.processing as { processor: string }[] | undefined
    const processors = processing?.map((entry) => entry.processor)
    expect(processors).toEqual(['wire-in', 'bot', 'wire-out'])
    client.close()
  })

  it('ends when the client leaves, and says so', async () => {
    const { sessionId = '' } = await runner.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(`${base}?sessionId=${sessionId}`)
    client.close()
    const { outcome, endedAt, connectedAt } = await runner.ended(sessionId)
    expect(outcome).toMatchObject({ result: 'ok', cause: 'client_left' })
    expect(connectedAt).toBeDefined()
    expect(endedAt).toBeDefined()
  })

  it('notices a client whose connection breaks', async () => {
    const { sessionId = '' } = await runner.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(`${base}?sessionId=${sessionId}`)
    client.websocket.terminate()
    expect((await runner.ended(sessionId)).outcome).toMatchObject({ cause: 'client_lost' })
  })

  it('has one caller a session', async () => {
    const { sessionId = '' } = await runner.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(`${base}?sessionId=${sessionId}`)
    expect(await WebsocketClient.refusal(`${base}?sessionId=${sessionId}`)).toMatchObject({
      status: 409,
      body: { code: 'session_busy' },
    })
    client.close()
  })

  it('does not take an id from outside, nor a session of another transport', async () => {
    expect(await WebsocketClient.refusal(`${base}?sessionId=mine`)).toMatchObject({ status: 404 })
    const { sessionId = '' } = await runner.start({ transport: 'webrtc' })
    expect(await WebsocketClient.refusal(`${base}?sessionId=${sessionId}`)).toMatchObject({ status: 409 })
  })

  it('tells a client that its session was stopped', async () => {
    const { sessionId = '' } = await runner.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(`${base}?sessionId=${sessionId}`)
    await runner.request(`/sessions/${sessionId}`, { method: 'DELETE' })
    expect(await client.whenClosed()).toEqual({ code: 4000, reason: expect.stringContaining('stopped') })
  })

  it('survives bytes that mean nothing, and counts them', async () => {
    const { sessionId = '' } = await runner.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(`${base}?sessionId=${sessionId}`)
    client.websocket.send(Buffer.from([255, 255, 255, 255]))
    client.websocket.send(Buffer.alloc(0))
    client.websocket.send('this is not JSON')
    client.send({ kind: 'audio', audio: new Uint8Array(641), sampleRate: 16_000, channels: 1 })
    client.send({ kind: 'audio', audio: new Uint8Array(640), sampleRate: 1, channels: 77 })
    client.send({ kind: 'message', data: '{"label":"rtvi-ai"' })
    client.sendMessage('client-ready', { version: '2.2.0' })
    await until(
      async () => (await runner.session(sessionId)).counters?.messagesIn === 1,
      'the session to go on',
    )
    client.close()
    const { outcome, counters } = await runner.ended(sessionId)
    expect(outcome?.cause).toBe('client_left')
    expect(counters?.badMessages).toBe(5)
  })
})

describe('what a bot is told', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(TELLS_ITS_ARGUMENTS)
  })
  afterAll(() => runner.close())

  it('holds the id and the body of the session that the client names', async () => {
    const { wsUrl, sessionId = '' } = await runner.start({ transport: 'websocket', body: { name: 'Ada' } })
    const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
    expect((await client.message('server-message')).data).toEqual({
      sessionId,
      body: { name: 'Ada' },
      variant: 'websocket',
      type: 'websocket',
      handleSigint: expect.any(Boolean),
      handleSigterm: expect.any(Boolean),
      missing: expect.stringContaining('websocket'),
      env: 'local',
    })
    expect(await client.whenClosed()).toMatchObject({ code: 1000 })
    expect((await runner.ended(sessionId)).outcome).toMatchObject({ result: 'ok', cause: 'bot_returned' })
  })
})

describe('a runner that asks for tokens', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO, { wsAuth: 'token' })
  })
  afterAll(() => runner.close())

  it('lets in who brings the token of the session, in the address or in a header', async () => {
    const first = await runner.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(`${first.wsUrl}?token=${first.token}`)
    await until(async () => (await runner.session(first.sessionId ?? '')).state === 'active', 'the session')
    client.close()
    const second = await runner.start({ transport: 'websocket' })
    const headers = { Authorization: `Bearer ${second.token}` }
    const other = await WebsocketClient.connect(`${second.wsUrl}?sessionId=${second.sessionId}`, headers)
    other.close()
  })

  it('refuses everyone else with 401', async () => {
    const { wsUrl, sessionId, token = '' } = await runner.start({ transport: 'websocket' })
    const other = await runner.start({ transport: 'websocket' })
    const attempts = [
      wsUrl ?? '',
      `${wsUrl}?sessionId=${sessionId}`,
      `${wsUrl}?token=${sessionId}.`,
      `${wsUrl}?token=${token.slice(0, -1)}`,
      `${wsUrl}?token=${token}&sessionId=${other.sessionId}`,
    ]
    for (const url of attempts) {
      expect(await WebsocketClient.refusal(url)).toMatchObject({
        status: 401,
        body: { code: 'token_invalid' },
      })
    }
    expect(JSON.stringify(runner.log.lines)).not.toContain(token.split('.')[1])
  })
})
