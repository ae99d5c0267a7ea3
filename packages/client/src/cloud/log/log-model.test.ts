import { describe, expect, it } from 'vitest'
import { ApiError } from '../api/api-error.ts'
import type { LogLine, LogLines } from './log-lines.ts'
import { LogModel } from './log-model.ts'
import type { LogSource } from './log-source.ts'
import { buildLogPieces, type OpenLog } from './log-stream.ts'

const COUNT = 60_000
const NEWEST = 10_000

const line = (number: number): LogLine => ({
  number,
  text: `line ${number}${number % 1000 === 0 ? ' Mark' : ''}`,
})
const event = ({ number, text }: LogLine): string => `id: ${number}\ndata: ${JSON.stringify(text)}\n\n`

/** A log whose stream the test writes to. */
class TestLog implements LogSource {
  readonly counted = true
  readonly asked: (string | undefined)[] = []
  readonly ranges: [number, number][] = []
  failing = false
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined
  refusal: ApiError | undefined
  signal: AbortSignal | undefined

  readonly open: OpenLog = async (lastId, signal) => {
    this.asked.push(lastId)
    this.signal = signal
    if (this.refusal !== undefined) throw this.refusal
    return buildLogPieces(
      new Response(
        new ReadableStream<Uint8Array>({
          start: (controller) => {
            this.#stream = controller
          },
        }),
      ),
    )
  }

  hasOlder(lines: LogLines): boolean {
    return lines.above > 0
  }

  async older(from: number, to: number): Promise<readonly LogLine[]> {
    this.ranges.push([from, to])
    if (this.failing) throw new Error('No way.')
    return Array.from({ length: to - from }, (_, index) => line(from + index))
  }

  async *pages(): AsyncGenerator<readonly string[]> {
    yield ['c', 'd']
    yield ['a', 'b']
  }

  async send(text: string): Promise<void> {
    this.#stream?.enqueue(new TextEncoder().encode(text))
    await settle()
  }

  async sendLines(from: number, to: number): Promise<void> {
    await this.send(Array.from({ length: to - from }, (_, index) => event(line(from + index))).join(''))
  }

  async cut(): Promise<void> {
    this.#stream?.error(new TypeError('network error'))
    await settle()
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

function modelOf(
  source: TestLog,
  max?: number,
): { model: LogModel; waits: { ms: number; go: () => void }[] } {
  const waits: { ms: number; go: () => void }[] = []
  const model = new LogModel(source, {
    frame: (action) => action(),
    later: (ms, go) => {
      const wait = { ms, go }
      waits.push(wait)
      return () => void waits.splice(waits.indexOf(wait) >>> 0, 1)
    },
    ...(max !== undefined && { max }),
  })
  return { model, waits }
}

async function longLog(): Promise<{ source: TestLog; model: LogModel }> {
  const source = new TestLog()
  const { model } = modelOf(source)
  void model.open()
  await settle()
  await source.sendLines(COUNT - NEWEST, COUNT)
  return { source, model }
}

describe('rows of a log', () => {
  it('has a row for every line, also for those that are not here yet, and knows which is which', async () => {
    const { model } = await longLog()
    expect(model.rows).toBe(COUNT)
    for (const row of [0, 1, COUNT - NEWEST - 1, COUNT - NEWEST, COUNT - 1]) {
      expect(model.numberAt(row)).toBe(row)
      expect(model.rowOf(row)).toBe(row)
    }
    expect(model.lineAt(COUNT - NEWEST - 1)).toBeUndefined()
    expect(model.lineAt(COUNT - NEWEST)).toEqual(line(COUNT - NEWEST))
    model.close()
  })

  it('gets older lines down to the one that is wanted, and no row moves', async () => {
    const { source, model } = await longLog()
    await model.loadOlder(COUNT - NEWEST - 1)
    expect(source.ranges).toEqual([[COUNT - NEWEST - 20_000, COUNT - NEWEST]])
    expect(model.rows).toBe(COUNT)
    expect(model.lineAt(30_000)).toEqual(line(30_000))
    model.show(10)
    await settle()
    expect(source.ranges.at(-1)).toEqual([0, 30_000])
    expect(model.lineAt(0)).toEqual(line(0))
    expect(model.lines.above).toBe(0)
    model.close()
  })

  it('tells that older lines did not come, and gets them when asked again', async () => {
    const { source, model } = await longLog()
    source.failing = true
    await model.loadOlder(0)
    expect(model.problem.value).toBe('Older lines did not come. No way.')
    source.failing = false
    await model.loadOlder(0)
    expect(model.problem.value).toBeUndefined()
    expect(model.lineAt(0)).toEqual(line(0))
    model.close()
  })

  it('knows a line that stands for left-out ones, under each of their numbers', async () => {
    const source = new TestLog()
    const { model } = modelOf(source)
    void model.open()
    await settle()
    await source.send(
      event(line(0)) + event({ number: 99, text: '[98 lines were left out]' }) + event(line(100)),
    )
    expect(model.rows).toBe(3)
    expect([1, 50, 99].map((number) => model.rowOf(number))).toEqual([1, 1, 1])
    expect(model.rowOf(100)).toBe(2)
    expect([0, 1, 2].map((row) => model.numberAt(row))).toEqual([0, 99, 100])
    model.close()
  })

  it('holds a bounded number of lines and says how many are beyond it', async () => {
    const source = new TestLog()
    const { model } = modelOf(source, 1_000)
    void model.open()
    await settle()
    await source.sendLines(0, 5_000)
    expect(model.lines.count).toBeLessThanOrEqual(1_000)
    expect(model.lines.end).toBe(5_000)
    expect(model.rows).toBe(1_000)
    expect(model.lines.beyond).toBe(4_000)
    expect(model.lineAt(model.rows - 1)).toEqual(line(4_999))
    model.close()
  })
})

describe('following', () => {
  it('stops when one scrolls up, counts what comes, and goes on at the end', async () => {
    const { source, model } = await longLog()
    expect(model.following.value).toBe(true)
    model.scrolled(false)
    await source.sendLines(COUNT, COUNT + 7)
    expect([model.following.value, model.unseen.value]).toEqual([false, 7])
    model.scrolled(true)
    expect([model.following.value, model.unseen.value]).toEqual([true, 0])
    model.scrolled(false)
    model.follow()
    expect(model.following.value).toBe(true)
    model.close()
  })

  it('goes on after the last line when the connection is cut, later and later, and takes no line twice', async () => {
    const source = new TestLog()
    const { model, waits } = modelOf(source)
    void model.open()
    await settle()
    await source.sendLines(0, 3)
    expect(model.connection.value).toBe('live')
    await source.cut()
    expect(model.connection.value).toBe('lost')
    expect(waits.map(({ ms }) => ms)).toEqual([1_000])
    source.refusal = new ApiError(0, 'NO_ANSWER', 'Nobody is there.')
    for (const ms of [2_000, 4_000, 8_000, 15_000, 15_000]) {
      waits[0]?.go()
      await settle()
      expect(waits.map((wait) => wait.ms)).toEqual([ms])
    }
    source.refusal = undefined
    waits[0]?.go()
    await settle()
    expect(source.asked).toEqual([undefined, ...Array.from({ length: 6 }, () => '2')])
    await source.sendLines(2, 6)
    expect(model.connection.value).toBe('live')
    expect(Array.from({ length: model.rows }, (_, row) => model.numberAt(row))).toEqual([0, 1, 2, 3, 4, 5])
    await source.send('event: end\ndata: {"status":"success","lines":6,"sha256":"ab"}\n\n')
    expect(model.connection.value).toBe('ended')
    expect(model.end.value?.lines).toBe(6)
    expect(waits).toEqual([])
  })

  it('gives up a connection on which nothing comes', async () => {
    const source = new TestLog()
    const { model, waits } = modelOf(source)
    void model.open()
    await settle()
    expect(waits.map(({ ms }) => ms)).toEqual([40_000])
    const [silence] = waits
    silence?.go()
    expect(source.signal?.aborted).toBe(true)
    model.close()
  })

  it('ends when the log may not be read', async () => {
    const source = new TestLog()
    source.refusal = new ApiError(404, 'NOT_FOUND', 'There is no build.')
    const { model, waits } = modelOf(source)
    await model.open()
    expect([model.connection.value, model.problem.value]).toEqual(['refused', 'There is no build.'])
    expect(waits).toEqual([])
  })
})

describe('searching', () => {
  it('finds every line whatever its case, also the older ones, and stays at its hit', async () => {
    const { source, model } = await longLog()
    model.look(' mark ', 55_000)
    expect(model.hitCount.value).toBe(10)
    expect(model.currentHit.value).toBe(55_000)
    await settle()
    expect(source.ranges).toEqual([[0, COUNT - NEWEST]])
    expect(model.hitCount.value).toBe(60)
    expect([model.currentHit.value, model.hit.value]).toEqual([55_000, 55])
    await source.sendLines(COUNT, COUNT + 1)
    expect(model.hitCount.value).toBe(61)
    model.close()
  })

  it('goes to the next and the previous hit and around the ends', async () => {
    const { model } = await longLog()
    model.look('Mark', 59_000)
    await settle()
    model.step(1)
    expect(model.currentHit.value).toBe(0)
    expect(model.reveal.value?.number).toBe(0)
    model.step(-1)
    expect(model.currentHit.value).toBe(59_000)
    model.step(-1)
    expect(model.currentHit.value).toBe(58_000)
    model.look('', 0)
    expect([model.hitCount.value, model.currentHit.value]).toEqual([0, undefined])
    model.close()
  })

  it('goes to the nearest hit as soon as one has come', async () => {
    const { model } = await longLog()
    model.look('line 12345', 59_000)
    expect([model.hitCount.value, model.reveal.value, model.following.value]).toEqual([0, undefined, true])
    await settle()
    expect([model.hitCount.value, model.currentHit.value]).toEqual([1, 12_345])
    expect([model.reveal.value?.number, model.following.value]).toEqual([12_345, false])
    model.close()
  })

  it('reads on for new words while lines for others are on their way', async () => {
    const source = new TestLog()
    const { model } = modelOf(source)
    void model.open()
    await settle()
    await source.sendLines(300_000, 300_001)
    model.look('m', 300_000)
    model.look('mark', 300_000)
    for (let turn = 0; turn < 5; turn += 1) await settle()
    expect(model.lines.above).toBe(0)
    expect(model.hitCount.value).toBe(301)
    model.close()
  })

  it('takes words as they are, and cuts a text at them', async () => {
    const source = new TestLog()
    const { model } = modelOf(source)
    void model.open()
    await settle()
    await source.send(event({ number: 0, text: 'a.b(c) A.B(C)' }) + event({ number: 1, text: 'axb(c)' }))
    model.look('a.b(c)', 0)
    expect(model.search.value.hits).toEqual([0])
    expect(model.search.value.parts('x a.b(c) A.B(C)')).toEqual(['x ', 'a.b(c)', ' ', 'A.B(C)', ''])
    model.close()
  })
})

it('gives the whole log as text, oldest line first', async () => {
  const { model } = modelOf(new TestLog())
  expect(await (await model.text()).text()).toBe('a\nb\nc\nd\n')
})
