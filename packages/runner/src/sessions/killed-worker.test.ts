import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { childrenOf } from '../testing/processes.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

const workers = () => childrenOf(process.pid, 'worker/main.js')
const guests = () => childrenOf(process.pid, 'guest/main.js')

describe('a media worker that is killed', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO)
  })
  afterAll(() => runner.close())

  it('takes only its own sessions, and is replaced', async () => {
    const { wsUrl, sessionId = '' } = await runner.start({ transport: 'websocket' })
    const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
    await until(async () => (await runner.session(sessionId)).state === 'active', 'the session')
    const [pid] = workers()
    if (pid === undefined) throw new Error('there is no worker')
    process.kill(pid, 'SIGKILL')
    expect((await client.whenClosed()).code).toBe(1006)
    expect((await runner.ended(sessionId)).outcome).toMatchObject({ result: 'failed', cause: 'media_failed' })

    const next = await runner.start({ transport: 'websocket' })
    const other = await WebsocketClient.connect(`${next.wsUrl}?sessionId=${next.sessionId}`)
    other.sendMessage('client-ready', { version: '2.2.0' })
    await other.message('bot-ready')
    expect(workers()).not.toContain(pid)
    other.close()
    await runner.ended(next.sessionId ?? '')
    await until(() => guests().length === 1, 'all guests but the spare to be gone')
  })
})
