import type { EndCause, SessionView } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RunnerFixture, until } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

/** One bot that fails in the way that its client asks for, and otherwise stays. */
const FAILS_ON_DEMAND = `
import { createTransport, type RunnerArguments } from '@botcli/bot'

export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, { websocket: () => ({}) })
  switch (args.body.way) {
    case 'throw':
      throw new TypeError('I cannot do this')
    case 'throw-later':
      setTimeout(() => { throw new Error('out of nowhere') }, 10)
      break
    case 'reject':
      void Promise.reject(new Error('nobody caught me'))
      break
    case 'exit':
      process.exit(7)
    case 'block':
      blockFor(1500)
      break
    case 'leak':
      leak()
      break
    case 'flood':
      for (;;) {
        transport.sendMessage({ label: 'noise', type: 'noise', id: '1', data: 'x'.repeat(100) })
        if (Math.random() < 0.01) await new Promise((resolve) => setImmediate(resolve))
      }
  }
  transport.rtvi.serverMessage('still here')
  await new Promise((resolve) => transport.on('ended', resolve))
}

function blockFor(ms: number): void {
  const end = Date.now() + ms
  while (Date.now() < end) Math.sqrt(2)
}

function leak(): void {
  const kept: unknown[] = []
  for (;;) kept.push(new Array(1000).fill({}))
}
`

describe('a bot that fails', () => {
  let runner: RunnerFixture
  let healthy: WebsocketClient
  let healthyId: string

  beforeAll(async () => {
    runner = await RunnerFixture.start(FAILS_ON_DEMAND, { maxMemoryBytes: 256 * 1024 * 1024 })
    ;({ client: healthy, sessionId: healthyId } = await connect('none'))
    await healthy.message('server-message')
  })

  afterAll(async () => {
    // Whatever the others did, this one has not noticed.
    expect((await runner.session(healthyId)).state).toBe('active')
    expect(healthy.closed).toBeUndefined()
    await runner.close()
    expect(healthy.closed).toMatchObject({ code: 1012 })
  })

  async function connect(way: string): Promise<{ client: WebsocketClient; sessionId: string }> {
    const { wsUrl, sessionId = '' } = await runner.start({ transport: 'websocket', body: { way } })
    const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
    return { client, sessionId }
  }

  async function expectFailure(way: string, cause: EndCause, words: string): Promise<SessionView> {
    const { client, sessionId } = await connect(way)
    const { data } = await client.message('error')
    expect(data).toMatchObject({ error: expect.stringContaining(words), fatal: true })
    const closed = await client.whenClosed()
    expect(closed.code).toBe(1011)
    expect(closed.reason).toContain(words)
    const view = await runner.ended(sessionId)
    expect(view.outcome).toMatchObject({ result: 'failed', cause, message: expect.stringContaining(words) })
    return view
  }

  it('by throwing: its client and the API hear what it threw, the log where', async () => {
    await expectFailure('throw', 'bot_failed', 'TypeError: I cannot do this')
    const stack = runner.log.lines.find((line) => line.msg.startsWith('TypeError: I cannot do this'))
    expect(stack?.msg).toMatch(/at bot \(.*bot\.ts:8:/)
  })

  it.each([
    ['throw-later', 'out of nowhere'],
    ['reject', 'nobody caught me'],
  ])('by an error outside of its own call (%s)', async (way, words) => {
    await expectFailure(way, 'bot_failed', words)
  })

  it('by calling process.exit', async () => {
    await expectFailure('exit', 'bot_exited', 'exited with code 7')
  })

  it('by filling its memory', async () => {
    await expectFailure('leak', 'bot_out_of_memory', 'memory')
  }, 60_000)

  it('by sending without end: whoever notices first, the bot or its host, says so', async () => {
    const { client, sessionId } = await connect('flood')
    const { code, reason } = await client.whenClosed()
    expect(code).toBe(1011)
    expect(reason).toMatch(/messages without end|messages are sent faster/)
    const { outcome } = await runner.ended(sessionId)
    expect(outcome?.result).toBe('failed')
    expect(['bot_flooded', 'bot_failed']).toContain(outcome?.cause)
  })

  it('by blocking its loop: the log says for how long and where, and the session goes on', async () => {
    const { client, sessionId } = await connect('block')
    await client.message('server-message')
    const line = await until(
      () =>
        runner.log.lines.find(
          (entry) => entry.msg.includes('was blocked for') && entry.sessionId === sessionId,
        ),
      'a report of the blocked loop',
    )
    expect(line.ms).toBeGreaterThan(500)
    expect(line.at).toMatch(/bot\.ts:\d+/)
    client.close()
  })
})
