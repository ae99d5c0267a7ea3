import { realpath } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebrtcTestClient } from '../../../media/src/testing/webrtc-client.ts'
import { childrenOf } from '../testing/processes.ts'
import { RunnerFixture, until } from '../testing/runner-fixture.ts'
import { toneShare, WebsocketClient } from '../testing/websocket-client.ts'

/** Everything of a session happens in this process, so this file has it to itself. */
const BOT = `
import { createTransport, type RunnerArguments } from '@botcli/bot'
export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, {
    webrtc: () => ({ audioOutSampleRate: 16000 }),
    websocket: () => ({ audioOutSampleRate: 16000 }),
  })
  transport.rtvi.serverMessage({ env: process.env.ENV, mine: process.env.OF_THE_BOT, cwd: process.cwd() })
  if (args.body.way === 'throw') throw new TypeError('inline trouble')
  if (args.body.way === 'stay') await new Promise(() => {})
  for await (const frame of transport.audio()) await transport.sendAudio(frame.samples)
}
`

describe('a runner that runs bots in its own process', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(BOT, { isolation: 'inline', env: { OF_THE_BOT: 'yes', ENV: 'local' } })
  })
  afterAll(async () => {
    await runner.close()
    expect(process.env.OF_THE_BOT).toBeUndefined()
    expect(process.cwd()).not.toBe(runner.folder)
  })

  async function connect(body: Record<string, string> = {}, fixture = runner) {
    const { wsUrl, sessionId = '' } = await fixture.start({ transport: 'websocket', body })
    return { client: await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`), sessionId }
  }

  it('echoes over WebSocket, without a process of its own', async () => {
    const { client, sessionId } = await connect()
    client.sendMessage('client-ready', { version: '2.2.0' })
    await client.message('bot-ready')
    while (client.samples.length < 0.5 * 24_000) await client.sendTone(440, 600)
    expect(toneShare(client.samples.slice(2400, 10_800), 440, 24_000)).toBeGreaterThan(0.6)
    expect(childrenOf(process.pid, 'main.js')).toEqual([])
    client.close()
    expect((await runner.ended(sessionId)).outcome).toMatchObject({ cause: 'client_left' })
  })

  it('shows its bot the variables and the folder that it would see in its own process', async () => {
    const { client } = await connect()
    expect((await client.message('server-message')).data).toEqual({
      env: 'local',
      mine: 'yes',
      cwd: await realpath(runner.folder ?? ''),
    })
    client.close()
  })

  it('echoes over WebRTC', async () => {
    const { sessionId = '' } = await runner.start()
    const client = new WebrtcTestClient({
      signal: async (sdp) => {
        const response = await runner.post(`/sessions/${sessionId}/api/offer`, { sdp, type: 'offer' })
        return ((await response.json()) as { sdp: string }).sdp
      },
    })
    await client.connect()
    while (client.heard.length < 0.8 * 16_000) await client.sendTone(440, 1000)
    expect(toneShare([...client.heard.slice(4800, 12_800)], 440, 16_000)).toBeGreaterThan(0.6)
    client.close()
    expect((await runner.ended(sessionId)).outcome).toMatchObject({ cause: 'client_left' })
  })

  it('tells what a bot threw, and goes on', async () => {
    const { client, sessionId } = await connect({ way: 'throw' })
    expect((await client.message('error')).data).toMatchObject({
      error: expect.stringContaining('inline trouble'),
    })
    expect((await runner.ended(sessionId)).outcome).toMatchObject({ cause: 'bot_failed' })
    const next = await connect()
    next.client.close()
    await runner.ended(next.sessionId)
  })

  it('closes in time, even with a bot that does not return', async () => {
    const other = await RunnerFixture.start(BOT, { isolation: 'inline' })
    const { client, sessionId } = await connect({ way: 'stay' }, other)
    await until(async () => (await other.session(sessionId)).state === 'active', 'the session')
    await other.runner.close({ deadlineMs: 200 })
    expect(await client.whenClosed()).toMatchObject({ code: 1012 })
    expect(other.runner.sessions).toBe(0)
    await other.close()
  })
})
