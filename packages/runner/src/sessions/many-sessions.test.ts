import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { childrenOf } from '../testing/processes.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'
import { toneShare, WebsocketClient } from '../testing/websocket-client.ts'

const SESSIONS = 30

describe('many sessions at once', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO)
  })
  afterAll(() => runner.close())

  it(`serves ${SESSIONS} callers, each with its own sound, and frees everything`, async () => {
    const callers = await Promise.all(
      Array.from({ length: SESSIONS }, async (_, index) => {
        const { wsUrl, sessionId = '' } = await runner.start({ transport: 'websocket' })
        const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
        return { client, sessionId, frequency: 300 + 40 * index }
      }),
    )
    const spoken = callers.map(async ({ client, frequency }) => {
      while (client.samples.length < 24_000) await client.sendTone(frequency, 500)
      return toneShare(client.samples.slice(7200, 21_600), frequency, 24_000)
    })
    for (const share of await Promise.all(spoken)) expect(share).toBeGreaterThan(0.6)
    for (const { client } of callers) client.close()
    for (const { sessionId } of callers) {
      expect((await runner.ended(sessionId)).outcome?.cause).toBe('client_left')
    }
    expect(runner.runner.sessions).toBe(0)
    await until(() => childrenOf(process.pid, 'guest/main.js').length === 1, 'one spare guest to be left')
  }, 90_000)
})
