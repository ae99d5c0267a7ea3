import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { EndCause } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunnerConfig } from '../config.ts'
import { childrenOf, isAlive } from '../testing/processes.ts'
import { RunnerFixture, until } from '../testing/runner-fixture.ts'
import { toneShare, WebsocketClient } from '../testing/websocket-client.ts'

const ECHO = resolve(import.meta.dirname, '../../../../examples/echo-python/bot.py')

/** One bot that fails in the way that its client asks for, and otherwise stays. */
const FAILS_ON_DEMAND = `
import asyncio, os, signal, sys, time
from botcli import TransportParams, create_transport

async def later():
    raise KeyError('out of nowhere')

def block_for(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass

async def bot(args):
    transport = await create_transport(args, {'websocket': TransportParams})
    print('called for', args.session_id)
    way = args.body.get('way')
    if way == 'raise':
        raise TypeError('I cannot do this')
    if way == 'raise-later':
        asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    if way == 'exit':
        os._exit(7)
    if way == 'sys-exit':
        sys.exit(8)
    if way == 'killed':
        os.kill(os.getpid(), signal.SIGKILL)
    if way == 'block':
        block_for(1.5)
    if way == 'leak':
        kept = []
        while True:
            kept.append([0] * 100_000)
    if way == 'flood':
        while True:
            transport.send_message({'label': 'noise', 'type': 'noise', 'id': '1', 'data': 'x' * 100})
    if way == 'deaf':
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                pass
    transport.rtvi.server_message('still here')
    await transport.wait_ended()
`

async function startBot(source: string, config: Partial<RunnerConfig> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'botcli-python-'))
  const path = join(folder, 'bot.py')
  await writeFile(path, source)
  const runner = await RunnerFixture.start(path, config)
  const close = async (): Promise<void> => {
    await runner.close()
    await rm(folder, { recursive: true, force: true })
  }
  return { runner, path, close }
}

/** Every process of Python bots, forked ones included. */
function processes(): readonly number[] {
  const own = childrenOf(process.pid, 'botcli.guest')
  return [...own, ...own.flatMap((pid) => childrenOf(pid, 'botcli.guest'))]
}

describe.each(['fork', 'spawn'] as const)('the Python echo bot (%s)', (start) => {
  it('answers, gives sound and messages back, and leaves nothing behind', async () => {
    const runner = await RunnerFixture.start(ECHO, { python: { start } })
    const client = await WebsocketClient.connect(`${runner.url.replace('http', 'ws')}/ws-client`)
    client.sendMessage('client-ready', { version: '2.2.0' })
    await client.message('bot-ready')
    await client.sendTone(440, 1000)
    await until(() => client.samples.length > 8000, 'sound')
    expect(toneShare(client.samples, 440, 24_000)).toBeGreaterThan(0.9)
    const all = processes()
    expect(all.length).toBeGreaterThanOrEqual(2)
    await runner.close()
    expect(all.filter(isAlive)).toEqual([])
  })
})

describe('a Python bot that fails', () => {
  let bot: Awaited<ReturnType<typeof startBot>>
  let runner: RunnerFixture
  let healthy: WebsocketClient
  let healthyId: string

  beforeAll(async () => {
    bot = await startBot(FAILS_ON_DEMAND, { maxMemoryBytes: 256 * 1024 * 1024 })
    ;({ runner } = bot)
    ;({ client: healthy, sessionId: healthyId } = await connect('none'))
    await healthy.message('server-message')
  })

  afterAll(async () => {
    // Whatever the others did, this one has not noticed.
    expect((await runner.session(healthyId)).state).toBe('active')
    expect(healthy.closed).toBeUndefined()
    await bot.close()
    expect(healthy.closed).toBeDefined()
    expect(processes()).toEqual([])
  })

  async function connect(way: string): Promise<{ client: WebsocketClient; sessionId: string }> {
    const { wsUrl, sessionId = '' } = await runner.start({ transport: 'websocket', body: { way } })
    const client = await WebsocketClient.connect(`${wsUrl}?sessionId=${sessionId}`)
    return { client, sessionId }
  }

  async function expectFailure(way: string, cause: EndCause, words: string): Promise<string> {
    const { client, sessionId } = await connect(way)
    const { data } = await client.message('error')
    expect(data).toMatchObject({ error: expect.stringContaining(words), fatal: true })
    expect(await client.whenClosed()).toMatchObject({ code: 1011, reason: expect.stringContaining(words) })
    const { outcome } = await runner.ended(sessionId)
    expect(outcome).toMatchObject({ result: 'failed', cause, message: expect.stringContaining(words) })
    return sessionId
  }

  it('by raising: its client and the API hear what, the log where, all with the session', async () => {
    const sessionId = await expectFailure('raise', 'bot_failed', 'TypeError: I cannot do this')
    const traceback = runner.log.lines.find(({ msg }) => msg.includes('Traceback'))
    expect(traceback).toMatchObject({ sessionId, msg: expect.stringMatching(/bot\.py", line 18, in bot/) })
    expect(runner.log.find(`called for ${sessionId}`)).toMatchObject({ sessionId, from: 'bot' })
  })

  it.each([
    ['raise-later', 'bot_failed', 'ZeroDivisionError'],
    ['exit', 'bot_exited', 'exited with code 7'],
    ['sys-exit', 'bot_exited', 'exited with code 8'],
    ['killed', 'bot_exited', 'was ended by SIGKILL'],
    ['leak', 'bot_out_of_memory', 'memory'],
  ] as const)('by the way of %s', async (way, cause, words) => {
    await expectFailure(way, cause, words)
  })

  it('by sending without end: whoever notices first, the bot or its host, says so', async () => {
    const { client, sessionId } = await connect('flood')
    expect((await client.whenClosed()).code).toBe(1011)
    const { outcome } = await runner.ended(sessionId)
    expect(['bot_flooded', 'bot_failed']).toContain(outcome?.cause)
  })

  it('by blocking its loop: the log says for how long and where, and the session goes on', async () => {
    const { client, sessionId } = await connect('block')
    await client.message('server-message')
    const line = await until(
      () =>
        runner.log.lines.find((one) => one.sessionId === sessionId && one.msg.includes('was blocked for')),
      'a report of the blocked loop',
    )
    expect(line.at).toMatch(/bot\.py:1[01]/)
    client.close()
    await runner.ended(sessionId)
  })

  it('by not hearing that its session is over', async () => {
    const { client, sessionId } = await connect('deaf')
    await until(() => runner.log.find(`called for ${sessionId}`), 'the bot to be called')
    client.close()
    await runner.ended(sessionId)
  })
})

describe('a Python bot that is saved', () => {
  const saying = (words: string) => `
from botcli import TransportParams, create_transport
async def bot(args):
    transport = await create_transport(args, {'websocket': TransportParams})
    transport.rtvi.server_message('${words}')
    await transport.wait_ended()
`
  let bot: Awaited<ReturnType<typeof startBot>>
  beforeAll(async () => {
    bot = await startBot(saying('first'))
  })
  afterAll(async () => {
    await bot.close()
    expect(processes()).toEqual([])
  })

  const url = () => `${bot.runner.url.replace('http', 'ws')}/ws-client`
  async function said(): Promise<unknown> {
    const client = await WebsocketClient.connect(url())
    const { data } = await client.message('server-message')
    client.close()
    return data
  }
  const templates = () => childrenOf(process.pid, '--template')

  it('reaches the next session, while the one that runs stays as it is and keeps its template', async () => {
    const running = await WebsocketClient.connect(url())
    await running.message('server-message')
    const [before = 0] = templates()
    await writeFile(bot.path, saying('second'))
    await until(async () => (await said()) === 'second', 'the saved words')
    expect(running.closed).toBeUndefined()
    expect(templates()).toContain(before)
    running.close()
    await until(() => !templates().includes(before), 'the old template to go')
  })

  it.each([
    ['is no Python', 'async def bot(args:\n', /SyntaxError/],
    ['raises when it is loaded', `${saying('never')}\nraise RuntimeError('not today')\n`, /not today/],
    ['has no bot', 'x = 1\n', /bot/],
  ])('is refused while it %s, and back when it is mended', async (_, source, words) => {
    await writeFile(bot.path, source)
    const answer = await until(async () => {
      const refused = await WebsocketClient.refusal(url()).catch(() => undefined)
      return words.test(refused?.body.error ?? '') && refused
    }, 'a refusal')
    expect(answer).toMatchObject({ status: 503, body: { code: 'bot_not_loaded' } })
    expect(bot.runner.log.lines.some(({ level, msg }) => level === 'error' && words.test(msg))).toBe(true)
    await writeFile(bot.path, saying('mended'))
    await until(async () => (await said().catch(() => undefined)) === 'mended', 'the mended bot')
  })
})
