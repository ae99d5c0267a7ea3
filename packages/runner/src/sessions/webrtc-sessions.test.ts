import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebrtcTestClient } from '../../../media/src/testing/webrtc-client.ts'
import { ECHO, RunnerFixture, until } from '../testing/runner-fixture.ts'
import { toneShare } from '../testing/websocket-client.ts'

interface Answer {
  readonly sdp: string
  readonly pc_id: string
  readonly sessionId: string
}

describe('WebRTC sessions', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(ECHO)
  })
  afterAll(() => runner.close())

  /** A caller of a session, or one that comes without `/start`. */
  function caller(sessionId?: string) {
    const path = sessionId === undefined ? '/api/offer' : `/sessions/${sessionId}/api/offer`
    const seen = { answers: [] as Answer[], restart: false }
    const client = new WebrtcTestClient({
      signal: async (sdp) => {
        const pc_id = seen.answers.at(-1)?.pc_id ?? null
        const response = await runner.post(path, { sdp, type: 'offer', pc_id, restart_pc: seen.restart })
        if (response.status !== 200) throw new Error(await response.text())
        const answer = (await response.json()) as Answer
        seen.answers.push(answer)
        return answer.sdp
      },
    })
    return { client, seen }
  }

  /** On a busy machine what we say has gaps now and then, so it is said until half a second came back whole. */
  async function expectEcho(client: WebrtcTestClient): Promise<void> {
    await until(async () => {
      client.forget()
      while (client.heard.length < 0.8 * 16_000) await client.sendTone(440, 500)
      return toneShare([...client.heard.slice(4800, 12_800)], 440, 16_000) > 0.6
    }, 'the tone to come back')
  }

  async function ready(client: WebrtcTestClient): Promise<void> {
    client.send({ label: 'rtvi-ai', type: 'client-ready', id: '1', data: { version: '2.2.0' } })
    await until(() => client.messages.some((text) => text.includes('"bot-ready"')), 'bot-ready')
  }

  it('connects, answers client-ready, echoes sound, and ends when the caller closes', async () => {
    const { sessionId = '' } = await runner.start()
    const { client } = caller(sessionId)
    await client.connect()
    await ready(client)
    await expectEcho(client)
    const { counters, state } = await runner.session(sessionId)
    expect(state).toBe('active')
    expect(counters?.audioInMs).toBeGreaterThan(0)
    client.close()
    expect((await runner.ended(sessionId)).outcome).toMatchObject({ cause: 'client_left' })
  })

  it('takes a caller that did not call /start, with its data', async () => {
    const { client, seen } = caller()
    await client.connect()
    const id = seen.answers[0]?.sessionId ?? ''
    expect(await runner.session(id)).toMatchObject({ transport: 'webrtc' })
    client.close()
    await runner.ended(id)
  })

  it('negotiates again on the same peer connection', async () => {
    const { client, seen } = caller()
    await client.connect()
    await client.negotiate()
    expect(seen.answers[1]?.pc_id).toBe(seen.answers[0]?.pc_id)
    await expectEcho(client)
    client.close()
  })

  it('lets a caller come back on a new peer connection, to the same bot', async () => {
    const { sessionId = '' } = await runner.start()
    const { client, seen } = caller(sessionId)
    await client.connect()
    seen.restart = true
    await client.reconnect()
    await ready(client)
    await expectEcho(client)
    expect(
      runner.log.lines.filter((line) => line.sessionId === sessionId && line.msg === 'bot started'),
    ).toHaveLength(1)
    client.close()
  })

  it('refuses a second caller of the same session', async () => {
    const { sessionId = '' } = await runner.start()
    const { client } = caller(sessionId)
    await client.connect()
    const { client: second } = caller(sessionId)
    await expect(second.connect()).rejects.toThrow('session_busy')
    second.close()
    client.close()
  })

  it('tells the caller when the session is stopped', async () => {
    const { sessionId = '' } = await runner.start()
    const { client } = caller(sessionId)
    await client.connect()
    await runner.request(`/sessions/${sessionId}`, { method: 'DELETE' })
    await until(() => client.messages.some((text) => text.includes('stopped through the API')), 'the reason')
    await until(() => client.state !== 'connected', 'the peer connection to close')
    expect((await runner.session(sessionId)).outcome).toMatchObject({ cause: 'stopped' })
  })
})
