import { inspect } from 'node:util'
import type { BotRequest, GuestMessage } from '@botcli/protocol'
import { describe, expect, it, vi } from 'vitest'
import { createTransport } from './create-transport.ts'
import { serve } from './serve.ts'
import type { RequestHandler } from './session-port.ts'
import { START, startBot, until } from './testing/test-host.ts'

const GET: BotRequest = { method: 'GET', path: '/a', query: '', headers: [], body: '' }

type ResponseWord = Extract<GuestMessage, { type: 'response' }>

function isResponse(message: GuestMessage, id: number): message is ResponseWord {
  return message.type === 'response' && message.id === id
}

/** A bot that serves with this handler, and ends with its session. */
async function serving(handler: RequestHandler) {
  const running = await startBot(async (args) => {
    serve(args, handler)
    const transport = await createTransport(args, { webrtc: () => ({}) })
    await new Promise((resolve) => transport.on('ended', resolve))
  })
  await running.host.message('serving')
  let nextId = 1
  return {
    ...running,
    async ask(request: Partial<BotRequest> = {}) {
      const id = nextId
      nextId += 1
      running.host.send({ type: 'request', id, request: { ...GET, ...request } })
      return until(() => running.host.messages.find((said): said is ResponseWord => isResponse(said, id)))
    },
  }
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')

describe('serve()', () => {
  it('lets the bot answer, with everything that was asked', async () => {
    const { ask, host } = await serving(async (request) => {
      const { method, url, headers } = request
      const body = await request.text()
      const answer = { method, url, twice: headers.get('x-twice'), body }
      return Response.json(answer, { status: 201, headers: { 'x-own': 'yes' } })
    })
    const headers = [
      ['x-twice', 'a'],
      ['x-twice', 'b'],
    ] as const
    const answer = await ask({
      method: 'PUT',
      path: '//odd/%2e',
      query: '?q=1&q=2',
      headers,
      body: base64('né'),
    })
    expect(answer).toMatchObject({ response: { status: 201 } })
    expect(Object.fromEntries(answer.response?.headers ?? [])).toMatchObject({ 'x-own': 'yes' })
    expect(JSON.parse(Buffer.from(answer.response?.body ?? '', 'base64').toString())).toEqual({
      method: 'PUT',
      url: expect.stringMatching(/^http:\/\/session\/\/odd\/.*\?q=1&q=2$/),
      twice: 'a, b',
      body: 'né',
    })
    host.port.destroy()
  })

  it('answers many at once, each when it is done', async () => {
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { ask, host } = await serving(async (request) => {
      if (request.url.endsWith('/slow')) await held
      return new Response(null, { status: 204 })
    })
    const slow = ask({ path: '/slow' })
    expect(await ask()).toMatchObject({ id: 2, response: { status: 204, body: '' } })
    release()
    expect(await slow).toMatchObject({ id: 1, response: { status: 204 } })
    host.port.destroy()
  })

  it.each([
    ['throws', () => Promise.reject(new TypeError('no such thing')), 'TypeError', 'no such thing'],
    [
      'throws what cannot be shown',
      () => {
        throw {
          [inspect.custom]() {
            throw new Error('in inspect')
          },
        }
      },
      'Error',
      'cannot be shown',
    ],
    ['gives no Response', () => ({ status: 200 }) as Response, 'BotError', 'must give a Response'],
    ['says too much', () => new Response('x'.repeat(600_000)), 'BotError', 'at most 524288 bytes'],
    [
      'has too many headers',
      () => new Response('', { headers: Array.from({ length: 101 }, (_, at) => [`x-${at}`, '']) }),
      'BotError',
      'at most 100 headers',
    ],
    ['gives Response.error()', () => Response.error(), 'BotError', 'a status from 200 to 599'],
  ])('of a handler that %s fails that request and nothing else', async (_, handler, name, message) => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const { ask, host } = await serving((request) =>
      request.url.endsWith('/fine') ? new Response('fine') : handler(),
    )
    expect(await ask()).toMatchObject({ error: { name, message: expect.stringContaining(message) } })
    expect(String(written.mock.calls[0]?.[0])).toContain('GET /a failed')
    written.mockRestore()
    expect(await ask({ path: '/fine' })).toMatchObject({ response: { status: 200 } })
    host.port.destroy()
  })

  it('cannot be called twice, with a copy, or when the session is over', async () => {
    const faults: unknown[] = []
    const { host } = await startBot(async (args) => {
      const attempt = (given: typeof args) => {
        try {
          serve(given, () => new Response())
        } catch (error) {
          faults.push(error)
        }
      }
      attempt({ ...args })
      attempt(args)
      attempt(args)
      const transport = await createTransport(args, { webrtc: () => ({}) })
      await new Promise((resolve) => transport.on('ended', resolve))
      attempt(args)
    }, START)
    await host.message('format')
    host.send({ type: 'cancel', cause: 'client_left', message: 'the caller left', deadlineMs: 5000 })
    await host.message('end')
    expect(faults).toMatchObject([
      { code: 'unknown_session' },
      { code: 'already_serving' },
      { code: 'session_ended' },
    ])
    host.port.close()
  })
})
