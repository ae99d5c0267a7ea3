import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PhoneCall } from '@botcli/media/phone'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { BROWSER_OFFER } from '../../../media/src/testing/offers.ts'
import { childrenOf } from '../testing/processes.ts'
import { PythonRunner, pythonProcesses } from '../testing/python-runner.ts'
import { until } from '../testing/runner-fixture.ts'
import { WebsocketClient } from '../testing/websocket-client.ts'

/** A bot that says these words at once, and again whenever it is asked. */
const saying = (words: string, head = '') => `${head}
from botcli import TRANSPORT_IDS, TransportParams, create_transport
WORDS = ${words}
async def bot(args):
    transport = await create_transport(args, {id: TransportParams for id in TRANSPORT_IDS})
    transport.rtvi.on_request(lambda request: request.respond(WORDS))
    transport.rtvi.server_message(WORDS)
    await transport.wait_ended()
`

/** What is saved, what its callers are told, and what the log says. */
const BROKEN = [
  ['is no Python', 'async def bot(args:\n', /SyntaxError/, /bot\.py", line 1/],
  ['raises when it is loaded', saying('1 / 0'), /ZeroDivisionError/, /bot\.py", line 3/],
  ['ends its process', 'import os\nos._exit(3)\n', /exited with code 3/, /exited with code 3/],
  ['has no bot', 'x = 1\n', /no function named `bot`/, /no function named `bot`/],
] as const

describe.each(['fork', 'spawn'] as const)('a Python bot that is saved (%s)', (start) => {
  let bot: PythonRunner
  beforeAll(async () => {
    bot = await PythonRunner.start(saying('"first"'), { python: { start } })
  })
  afterAll(async () => {
    await bot.close()
    expect(pythonProcesses()).toEqual([])
  })

  const url = (path = '/ws-client') => `${bot.runner.url.replace('http', 'ws')}${path}`
  const templates = () => childrenOf(process.pid, '--template')

  async function call(): Promise<WebsocketClient> {
    const client = await WebsocketClient.connect(url())
    await client.message('server-message')
    return client
  }

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

  const untilSaid = (words: string) => until(async () => (await said()) === words, `"${words}"`)

  async function answer(client: WebsocketClient): Promise<unknown> {
    client.messages.length = 0
    client.sendMessage('client-message', { t: 'words' })
    return (await client.message('server-response')).data?.d
  }

  it('reaches the next session, while a call that is on goes on with what it began with', async () => {
    const running = await call()
    const before = templates()
    await bot.save(saying('"second"'))
    await untilSaid('second')
    expect(await answer(running)).toBe('first')
    expect(templates()).toEqual(expect.arrayContaining([...before]))
    running.close()
    await until(() => !before.some((pid) => templates().includes(pid)), 'the old template to go')
  })

  it('reaches the next session also when only a module of it was saved', async () => {
    await mkdir(join(bot.folder, 'parts'), { recursive: true })
    await writeFile(join(bot.folder, 'parts/words.py'), 'WORDS = "of the module"\n')
    await bot.save(saying('words.WORDS', 'from parts import words'))
    await untilSaid('of the module')
    await writeFile(join(bot.folder, 'parts/words.py'), 'WORDS = "of the saved module"\n')
    await untilSaid('of the saved module')
  })

  // How the code is loaded does not change what becomes of it, so one is enough where each takes longer.
  it.each(start === 'fork' ? BROKEN : BROKEN.slice(0, 1))(
    'is refused while it %s; calls go on, and it is back when it is mended',
    async (_, source, words, place) => {
      const running = await call()
      const before = await answer(running)
      const { sessionId = '' } = await bot.runner.start()
      await bot.save(source)
      const refusal = await until(async () => {
        const refused = await WebsocketClient.refusal(url()).catch(() => undefined)
        return words.test(refused?.body.error ?? '') && refused
      }, 'a refusal')
      expect(refusal).toMatchObject({ status: 503, body: { code: 'bot_not_loaded' } })
      expect(refusal.headers['retry-after']).toBeDefined()
      // One save may be seen twice, and then the bot is tried once more.
      const announce = () => bot.runner.post('/start', { transport: 'webrtc' })
      await until(async () => (await announce()).status === 503, 'a start to be refused')
      const offer = { sdp: BROWSER_OFFER, type: 'offer' }
      expect((await bot.runner.post(`/sessions/${sessionId}/api/offer`, offer)).status).toBe(503)
      expect((await new PhoneCall({ url: url('/ws') }).ended).refused).toMatchObject({ status: 503 })
      expect(bot.runner.log.lines.some(({ level, msg }) => level === 'error' && place.test(msg))).toBe(true)
      expect(await answer(running)).toBe(before)
      running.close()
      await bot.save(saying('"mended"'))
      await untilSaid('mended')
    },
  )

  it('is refused while its file is gone', async () => {
    await rm(join(bot.folder, 'bot.py'))
    await until(async () => (await bot.runner.post('/start', {})).status === 503, 'a refusal')
    await bot.save(saying('"back"'))
    await untilSaid('back')
  })
})
