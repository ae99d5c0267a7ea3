import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { RunnerFixture, until } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

const saying = (words: string) => `
import { createTransport, type RunnerArguments } from '@botcli/bot'
export async function bot(args: RunnerArguments): Promise<void> {
  const transport = await createTransport(args, { websocket: () => ({}) })
  transport.rtvi.serverMessage('${words}')
  await new Promise((resolve) => transport.on('ended', resolve))
}
`
const BROKEN = `${saying('never')}\nconst x: = 5\n`
const BROKEN_AT_LOAD = `${saying('never')}\nthrow new RangeError('not today')\n`

describe('a bot that is saved', () => {
  let runner: RunnerFixture
  beforeAll(async () => {
    runner = await RunnerFixture.start(saying('first'))
  })
  afterAll(() => runner.close())

  const url = () => `${runner.url.replace('http', 'ws')}/ws-client`
  const save = (source: string) => writeFile(join(runner.folder ?? '', 'bot.ts'), source)

  /** What a new session is told; nothing when it is refused. */
  async function said(): Promise<unknown> {
    const client = new WebsocketClient(url())
    const { websocket } = client
    await until(() => websocket.readyState !== WebSocket.CONNECTING, 'an answer')
    if (websocket.readyState !== WebSocket.OPEN) return undefined
    const { data } = await client.message('server-message')
    client.close()
    return data
  }

  /** What a new session is refused with, once it is. */
  async function refusal(words: string) {
    return until(async () => {
      const answer = await WebsocketClient.refusal(url()).catch(() => undefined)
      return answer?.body.error?.includes(words) ? answer : undefined
    }, `a refusal with ${words}`)
  }

  it('reaches the next session, while the one that runs stays as it is', async () => {
    const running = await WebsocketClient.connect(url())
    await running.message('server-message')
    await save(saying('second'))
    await until(async () => (await said()) === 'second', 'the saved words')
    expect(running.closed).toBeUndefined()
    running.close()
  })

  it('is refused with its file and line while it is broken, and back when it is mended', async () => {
    await save(BROKEN)
    const answer = await refusal('bot.ts:')
    expect(answer).toMatchObject({ status: 503, body: { code: 'bot_not_loaded' } })
    expect(answer.body.error).toMatch(/bot\.ts:9:\d+/)
    expect(answer.headers['retry-after']).toBeDefined()
    await save(saying('third'))
    await until(async () => (await said()) === 'third', 'the mended bot')
  })

  it('is refused with what it threw when it does not load, and back when it is mended', async () => {
    await save(BROKEN_AT_LOAD)
    const answer = await refusal('not today')
    expect(answer).toMatchObject({ status: 503, body: { code: 'bot_not_loaded' } })
    expect(runner.log.find('RangeError: not today')?.msg).toMatch(/bot\.ts:9:/)
    const offer = await runner.post('/api/offer', { sdp: 'v=0', type: 'offer' })
    expect(offer.status).toBe(400)
    await save(saying('fourth'))
    await until(async () => (await said()) === 'fourth', 'the mended bot')
    await until(() => runner.runner.sessions === 0, 'all sessions to be over')
  })
})
