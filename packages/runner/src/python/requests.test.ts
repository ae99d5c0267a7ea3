import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BotRequest } from '@botcli/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Backstage } from '../backstage.ts'
import type { Connector } from '../sessions/connector.ts'
import type { Session } from '../sessions/session.ts'
import { LogCapture } from '../testing/log-capture.ts'
import { pythonProcesses } from '../testing/python-runner.ts'
import { testConfig, until } from '../testing/runner-fixture.ts'

const BOT = `
import asyncio
from botcli import HttpResponse, asgi, serve

async def app(scope, receive, send):
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 202, "headers": [(b"x-path", scope["raw_path"])]})
    await send({"type": "http.response.body", "body": body.upper()})

by_app = asgi(app)

async def on_request(request):
    if request.path.startswith("/app/"):
        return await by_app(request)
    if request.path == "/fail":
        return {}["nothing"]
    if request.path == "/echo":
        return request.body
    if request.path == "/slow":
        await asyncio.sleep(1000)
    return HttpResponse(201, [request.method, request.path, request.params], [("set-cookie", "a=ü"), ("set-cookie", "b")])

async def bot(args):
    serve(args, on_request)
    await asyncio.sleep(1000)
`
const GET: BotRequest = { method: 'GET', path: '/', query: '', headers: [], body: '' }

describe.each(['fork', 'spawn'] as const)('requests to a Python bot (%s)', (start) => {
  const log = new LogCapture()
  let folder: string
  let backstage: Backstage
  let connector: Connector
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'botcli-python-'))
    await writeFile(join(folder, 'bot.py'), BOT)
    backstage = new Backstage(testConfig(join(folder, 'bot.py'), { python: { start } }), log.logger)
    connector = await backstage.open()
  })
  afterAll(async () => {
    await backstage.endSessions(2000)
    await backstage.close()
    await rm(folder, { recursive: true, force: true })
    expect(pythonProcesses()).toEqual([])
  })

  /** A bot in a room, where it needs no caller. */
  async function session(): Promise<Session> {
    const made = backstage.table.create('room')
    await connector.room(made, { roomUrl: 'https://rooms.example/a' })
    return made
  }

  async function ask({ host, id }: Session, request: Partial<BotRequest>) {
    if (host === undefined) throw new Error('the session has no host')
    const { status, headers, body } = await host.request(id, { ...GET, ...request })
    return { status, headers, body: Buffer.from(body, 'base64') }
  }

  it('are answered by its handler, as long as they may be', async () => {
    const bot = await session()
    const { body, ...head } = await ask(bot, { method: 'PATCH', path: '/a%20b', query: '?c=%C3%BC&d' })
    const headers = [
      ['content-type', 'application/json'],
      ['set-cookie', 'a=ü'],
      ['set-cookie', 'b'],
    ]
    expect(head).toEqual({ status: 201, headers })
    expect(JSON.parse(body.toString())).toEqual(['PATCH', '/a%20b', { c: 'ü', d: '' }])
    const long = Buffer.alloc(512 * 1024, 'päper')
    const echoed = await ask(bot, { method: 'PUT', path: '/echo', body: long.toString('base64') })
    expect(echoed.body.equals(long)).toBe(true)
  })

  it('are answered by an application of a web framework', async () => {
    const body = Buffer.from('loud').toString('base64')
    const answer = await ask(await session(), { method: 'POST', path: '/app/%2F', body })
    expect(answer).toMatchObject({ status: 202, body: Buffer.from('LOUD') })
    expect(answer.headers).toContainEqual(['x-path', '/app/%2F'])
  })

  it('that fail are told to who asked and in the log, and end nothing', async () => {
    const bot = await session()
    await expect(ask(bot, { path: '/fail' })).rejects.toMatchObject({
      code: 'bot_failed',
      message: "The bot failed to answer: KeyError: 'nothing'",
    })
    const line = await until(
      () => log.lines.find(({ sessionId, msg }) => sessionId === bot.id && msg.includes('KeyError')),
      'a line of the log',
    )
    expect(line).toMatchObject({
      from: 'bot',
      msg: expect.stringMatching(/^Traceback[\s\S]*in on_request\n/),
    })
    expect((await ask(bot, { path: '/still' })).status).toBe(201)
  })

  it('wait no longer than the session', async () => {
    const bot = await session()
    await ask(bot, {})
    const slow = expect(ask(bot, { path: '/slow' })).rejects.toMatchObject({ code: 'media_unavailable' })
    await ask(bot, {})
    await bot.end('client_left', 'The caller left.')
    await slow
    const words = log.lines.filter(({ sessionId, from }) => sessionId === bot.id && from === 'bot')
    expect(words).toEqual([])
  })
})
