import type { BotRequest } from '@botcli/protocol'
import { describe, expect, it } from 'vitest'
import { MediaError } from '../errors.ts'
import { GuestRequests } from './guest-requests.ts'

const REQUEST: BotRequest = { method: 'GET', path: '/a', query: '', headers: [], body: '' }
const RESPONSE = { status: 200, headers: [], body: 'b2s=' } as const

/** Requests of a session, with what its bot was asked. */
function open(limits: ConstructorParameters<typeof GuestRequests>[0] = {}) {
  const asked: number[] = []
  const requests = new GuestRequests(limits)
  const join = (takes = true) =>
    requests.join((id) => {
      asked.push(id)
      return takes
    })
  return { requests, asked, join }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof MediaError ? error.code : `no MediaError: ${error}`
}

describe('requests to a bot', () => {
  it('wait until it is there and says that it serves them, and are answered in any order', async () => {
    const { requests, asked, join } = open()
    const first = requests.ask(REQUEST)
    join()
    const second = requests.ask(REQUEST)
    expect(asked).toEqual([])
    requests.serving()
    expect(asked).toEqual([1, 2])
    requests.answered({ type: 'response', id: 2, response: RESPONSE })
    requests.answered({ type: 'response', id: 1, response: { ...RESPONSE, status: 404 } })
    expect((await first).status).toBe(404)
    expect((await second).status).toBe(200)
    requests.close('over')
  })

  it('are not served by a bot that does not say so in time, unless it says so later', async () => {
    const { requests, join } = open({ servingMs: 5 })
    join()
    expect(await codeOf(requests.ask(REQUEST))).toBe('not_served')
    expect(await codeOf(requests.ask(REQUEST))).toBe('not_served')
    requests.serving()
    const late = requests.ask(REQUEST)
    requests.answered({ type: 'response', id: 2, response: RESPONSE })
    expect((await late).status).toBe(200)
    requests.close('over')
  })

  it('fail with what the bot says of them, and without a word, too', async () => {
    const { requests, join } = open()
    join()
    requests.serving()
    const told = requests.ask(REQUEST)
    requests.answered({ type: 'response', id: 1, error: { name: 'TypeError', message: 'no' } })
    await expect(told).rejects.toThrow('The bot failed to answer: TypeError: no')
    const untold = requests.ask(REQUEST)
    requests.answered({ type: 'response', id: 2 })
    expect(await codeOf(untold)).toBe('bot_failed')
    requests.answered({ type: 'response', id: 77, response: RESPONSE })
    requests.close('over')
  })

  it('have a limit in time and in number, and end with the session', async () => {
    const { requests, join } = open({ responseMs: 20 })
    join()
    requests.serving()
    expect(await codeOf(requests.ask(REQUEST))).toBe('bot_timeout')
    const many = Array.from({ length: 17 }, () => codeOf(requests.ask(REQUEST)))
    requests.close('The caller left.')
    const codes = await Promise.all(many)
    expect(codes.filter((code) => code === 'media_unavailable')).toHaveLength(16)
    expect(codes.at(-1)).toBe('bot_busy')
    await expect(requests.ask(REQUEST)).rejects.toThrow('The caller left.')
  })

  it('are refused while the bot does not read', async () => {
    const { requests, join } = open()
    join(false)
    requests.serving()
    expect(await codeOf(requests.ask(REQUEST))).toBe('bot_busy')
    requests.close('over')
  })
})
