import type { AgentLogEntry, AgentLogsResponse } from '@botcli/protocol/cloud'
import { describe, expect, it } from 'vitest'
import { anEntry, idOf } from '../../testing/agent-samples.ts'
import { AgentsApi } from '../api/agents-api.ts'
import { Sender } from '../api/sender.ts'
import { AgentLogSource } from './agent-log-source.ts'
import { LogModel } from './log-model.ts'

/** A cloud with one log of entries that the test adds. */
class LogHouse {
  readonly entries: AgentLogEntry[] = []
  readonly asked: { url: URL; lastId: string | null; streams: boolean }[] = []
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined

  readonly fetch = async (input: unknown, init?: RequestInit): Promise<Response> => {
    const url = new URL(String(input))
    const headers = new Headers(init?.headers)
    const streams = headers.get('accept') === 'text/event-stream'
    this.asked.push({ url, lastId: headers.get('last-event-id'), streams })
    if (!streams) return Response.json(this.#page(url.searchParams))
    const [after] = (headers.get('last-event-id') ?? '0').split('-').map(Number)
    return new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#stream = controller
          for (const entry of this.entries) if (entry.id > (after ?? 0)) this.#tell(eventOf(entry))
        },
      }),
    )
  }

  get api(): AgentsApi {
    return new AgentsApi(new Sender('http://cloud', this.fetch as typeof fetch, 'sk_x', () => {}))
  }

  async add(...entries: readonly AgentLogEntry[]): Promise<void> {
    this.entries.push(...entries)
    await this.say(entries.map(eventOf).join(''))
  }

  async say(text: string): Promise<void> {
    this.#tell(text)
    await settle()
  }

  async cut(): Promise<void> {
    this.#stream?.error(new TypeError('network error'))
    this.#stream = undefined
    await settle()
  }

  #tell(text: string): void {
    this.#stream?.enqueue(new TextEncoder().encode(text))
  }

  #page(query: URLSearchParams): AgentLogsResponse {
    const before = Number(query.get('cursor') ?? Number.POSITIVE_INFINITY)
    const limit = Number(query.get('limit'))
    const older = this.entries.filter(({ id }) => id < before).toReversed()
    const logs = older.slice(0, limit)
    return {
      total: { value: this.entries.length, relation: 'eq' },
      logs,
      ...(older.length > limit && { nextCursor: String(logs.at(-1)?.id) }),
    }
  }
}

function eventOf(entry: AgentLogEntry): string {
  return `id: ${entry.id}-abcdef01\ndata: ${JSON.stringify(entry)}\n\n`
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

async function opened(house: LogHouse, filter = {}, max?: number) {
  const waits: (() => void)[] = []
  const model = new LogModel(new AgentLogSource(house.api, 'my bot', filter), {
    frame: (action) => action(),
    later: (ms, go) => {
      if (ms < 30_000) waits.push(go)
      return () => {}
    },
    ...(max !== undefined && { max }),
  })
  void model.open()
  await settle()
  return { model, waits }
}

function textsOf(model: LogModel): readonly string[] {
  return Array.from({ length: model.rows }, (_, row) => model.lineAt(row)?.text ?? '?')
}

describe('the log of an agent', () => {
  it('shows what is there and then what comes, a row for every line of an entry', async () => {
    const house = new LogHouse()
    house.entries.push(anEntry(3, 'one'), anEntry(9, 'Traceback:\n  line 2\nError\n', { level: 'error' }))
    const { model } = await opened(house, { level: 'warn', query: 'a b', sessionId: idOf(7) })
    expect(textsOf(model)).toEqual(['one', 'Traceback:', '  line 2', 'Error'])
    expect(model.lineAt(2)?.part).toMatchObject({ first: false, entry: { id: 9, level: 'error' } })
    expect(model.connection.value).toBe('live')
    await house.add(anEntry(12, 'three'))
    expect(textsOf(model).at(-1)).toBe('three')
    for (const { url } of house.asked) {
      expect(url.pathname).toBe('/v1/agents/my%20bot/logs')
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        level: 'warn',
        query: 'a b',
        sessionId: idOf(7),
      })
    }
    expect(house.asked.map(({ streams, lastId }) => [streams, lastId])).toEqual([
      [false, null],
      [true, '9'],
    ])
    model.close()
  })

  it('goes on after a cut connection where it was, without a gap or a double', async () => {
    const house = new LogHouse()
    house.entries.push(anEntry(1, 'one'))
    const { model, waits } = await opened(house)
    await house.add(anEntry(2, 'two'))
    await house.cut()
    expect(model.connection.value).toBe('lost')
    house.entries.push(anEntry(5, 'meanwhile'))
    for (const go of waits.splice(0)) go()
    await settle()
    expect(house.asked.at(-1)).toMatchObject({ streams: true, lastId: '2-abcdef01' })
    expect(textsOf(model)).toEqual(['one', 'two', 'meanwhile'])
    model.close()
  })

  it('comes back to where the stream has said that it is, though nothing has come', async () => {
    const house = new LogHouse()
    house.entries.push(anEntry(1, 'one'))
    const { model, waits } = await opened(house)
    await house.say('id: 1-abcdef01\nretry: 1000\n\n')
    await house.cut()
    for (const go of waits.splice(0)) go()
    await settle()
    expect(house.asked.map(({ lastId }) => lastId)).toEqual([null, '1', '1-abcdef01'])
    model.close()
  })

  it('begins with an empty log', async () => {
    const house = new LogHouse()
    const { model } = await opened(house)
    expect(model.rows).toBe(0)
    await house.add(anEntry(1, 'first'))
    expect(textsOf(model)).toEqual(['first'])
    expect(model.hasOlder).toBe(false)
    model.close()
  })

  it('gets older entries page by page, and the line that is looked at stays where it is', async () => {
    const house = new LogHouse()
    for (let id = 1; id <= 3_500; id += 1) house.entries.push(anEntry(id, `entry ${id}\nmore`))
    const { model } = await opened(house)
    expect(model.rows).toBe(2_000)
    expect([model.hasOlder, model.lines.above]).toEqual([true, 0])
    const looked = model.numberAt(0)
    expect(model.lineAt(0)?.text).toBe('entry 2501')
    await model.loadOlder(looked)
    expect(model.rows).toBe(6_000)
    expect(model.lineAt(model.rowOf(looked))?.text).toBe('entry 2501')
    expect(model.lineAt(0)?.text).toBe('entry 501')
    await model.loadOlder(0)
    expect([model.rows, model.hasOlder]).toEqual([7_000, false])
    expect(model.lineAt(0)?.text).toBe('entry 1')
    model.close()
  })

  it('lets go of the oldest lines, and then offers no older ones, because there would be a gap', async () => {
    const house = new LogHouse()
    for (let id = 1; id <= 1_500; id += 1) house.entries.push(anEntry(id, `entry ${id}`))
    const { model } = await opened(house, {}, 1_010)
    expect(model.hasOlder).toBe(true)
    await house.add(...Array.from({ length: 20 }, (_, index) => anEntry(2_000 + index, 'new')))
    expect(model.hasOlder).toBe(false)
    expect([model.rows, model.lines.count, model.lines.beyond]).toEqual([909, 909, 0])
    model.close()
  })

  it('says that entries were removed before they could be read', async () => {
    const house = new LogHouse()
    const { model } = await opened(house)
    await house.say('event: reset\ndata: {"missed":true}\n\n')
    expect(textsOf(model)[0]).toContain('no longer kept')
    model.close()
  })

  it('goes on with the log of another agent that has the name now', async () => {
    const house = new LogHouse()
    for (let id = 1; id <= 1_500; id += 1) house.entries.push(anEntry(id, `entry ${id}`))
    const { model } = await opened(house)
    expect(model.hasOlder).toBe(true)
    await house.say(`event: reset\ndata: {"missed":true,"replaced":true}\n\n${eventOf(anEntry(1, 'anew'))}`)
    expect(textsOf(model).slice(-3)).toEqual([
      'entry 1500',
      'The agent was removed. What follows is the log of the one that has its name now.',
      'anew',
    ])
    expect(model.hasOlder).toBe(false)
    model.close()
  })

  it('is complete when the agent was removed, and says so', async () => {
    const house = new LogHouse()
    house.entries.push(anEntry(1, 'hello'))
    const { model } = await opened(house)
    await house.say('event: end\ndata: {"reason":"agent_removed"}\n\n')
    expect([model.connection.value, textsOf(model)]).toEqual([
      'ended',
      ['hello', 'The agent was removed, and its log with it.'],
    ])
  })

  it('is complete when the session is over', async () => {
    const house = new LogHouse()
    house.entries.push(anEntry(1, 'hello'))
    const { model } = await opened(house)
    await house.say(`${eventOf(anEntry(2, 'bye'))}event: end\ndata: {"state":"ended"}\n\n`)
    expect([model.connection.value, textsOf(model)]).toEqual(['ended', ['hello', 'bye']])
  })

  it('is downloaded whole, the oldest entry first', async () => {
    const house = new LogHouse()
    for (let id = 1; id <= 12_000; id += 1)
      house.entries.push(anEntry(id, `entry ${id}`, { sessionId: idOf(1) }))
    const { model } = await opened(house)
    const lines = (await (await model.text()).text()).trimEnd().split('\n')
    expect(lines).toHaveLength(12_000)
    expect([lines[0], lines.at(-1)]).toEqual([
      '2024-05-06T07:08:09.000Z info 00000000 entry 1',
      '2024-05-06T07:08:09.000Z info 00000000 entry 12000',
    ])
    model.close()
  })
})
