import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { BROWSER_OFFER } from '../../../media/src/testing/offers.ts'
import { childrenOf } from '../testing/processes.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

const guests = () => childrenOf(process.pid, 'guest/main.js').length

describe('a session that is stopped while its caller comes in', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    // Without spares each session has to wait for its bot, and can be stopped meanwhile.
    runner = await RunnerFixture.start(ECHO, { warm: 0 })
    await until(() => guests() === 0, 'the guest of the first load to be gone')
  })
  afterAll(() => runner.close())

  const stop = (id: string) => runner.request(`/sessions/${id}`, { method: 'DELETE' })

  it('refuses the WebSocket and leaves no guest behind', async () => {
    const { wsUrl, sessionId = '' } = await runner.start({ transport: 'websocket' })
    const client = new WebsocketClient(`${wsUrl}?sessionId=${sessionId}`)
    await until(async () => (await runner.session(sessionId)).state === 'connecting', 'the caller')
    expect((await stop(sessionId)).status).toBe(200)
    await until(() => client.websocket.readyState === WebSocket.CLOSED, 'the caller to be refused')
    expect(await runner.ended(sessionId)).toMatchObject({ outcome: { cause: 'stopped' } })
    await until(() => guests() === 0, 'the guest to be gone')
    expect(runner.runner.sessions).toBe(0)
  })

  it('refuses the offer and leaves no guest behind', async () => {
    const { sessionId = '' } = await runner.start()
    const offer = runner.post(`/sessions/${sessionId}/api/offer`, { sdp: BROWSER_OFFER, type: 'offer' })
    await until(async () => (await runner.session(sessionId)).state === 'connecting', 'the caller')
    await stop(sessionId)
    const response = await offer
    expect(response.status).toBe(404)
    expect(await response.json()).toMatchObject({ code: 'session_not_found' })
    await until(() => guests() === 0, 'the guest to be gone')
    expect(runner.runner.sessions).toBe(0)
  })

  it.each([true, false])(
    'is not left behind when its caller goes instead (started before: %s)',
    async (named) => {
      const { wsUrl = '', sessionId = '' } = named ? await runner.start({ transport: 'websocket' }) : {}
      const base = `${runner.url.replace('http', 'ws')}/ws-client`
      const client = new WebsocketClient(named ? `${wsUrl}?sessionId=${sessionId}` : base)
      await until(() => runner.runner.sessions === 1 && guests() === 1, 'the bot to load')
      client.websocket.terminate()
      await until(() => guests() === 0, 'the guest to be gone')
      if (named) await stop(sessionId)
      await until(() => runner.runner.sessions === 0, 'the session to be over')
    },
  )

  it('has its place taken no longer than its caller is there', async () => {
    const slow = await RunnerFixture.start(
      `await new Promise((resolve) => setTimeout(resolve, 3000))\nexport async function bot(): Promise<void> {}\n`,
      { warm: 0, maxSessions: 1 },
    )
    const client = new WebsocketClient(`${slow.url.replace('http', 'ws')}/ws-client`)
    await until(() => slow.runner.sessions === 1 && guests() === 1, 'the bot to load')
    client.websocket.terminate()
    await until(() => slow.runner.sessions === 0, 'the place to be free')
    // The bot was not waited for: it is still loading.
    expect(guests()).toBe(1)
    await slow.close()
  })

  it('lets the client of a stopped session go, too', async () => {
    const { wsUrl, sessionId = '' } = await runner.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
    await stop(sessionId)
    expect((await client.whenClosed()).code).toBe(4000)
  })
})
