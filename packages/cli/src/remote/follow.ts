import { createHash } from 'node:crypto'
import { BUILD_LOG_LIMIT, type BuildLogEnd, buildLogEnd } from '@botcli/protocol/cloud'
import { readAnswer } from './answer.ts'
import type { CloudClient } from './cloud-client.ts'
import { EventStreamParser, type StreamEvent } from './event-stream.ts'
import { RemoteError, reasonOf } from './remote-error.ts'
import { backOff, realWait, type Wait } from './retry.ts'

/** Three times the beat of the cloud: nothing at all for so long means that nobody is there. */
const SILENCE_MS = 45_000
/** For so long a cloud may be away. */
const PATIENCE_MS = 5 * 60_000

/** What happens while a log is followed. */
export type FollowEvent =
  | { readonly type: 'line'; readonly number: number; readonly text: string }
  /** Lines that were not shown and will not be: they are older than what was asked for, or are kept no more. */
  | { readonly type: 'skipped'; readonly from: number; readonly to: number }
  | { readonly type: 'lost'; readonly reason: string; readonly next: number }
  /** The connection is there again; it goes on with line `next`. */
  | { readonly type: 'resumed'; readonly next: number; readonly afterMs: number }
  | { readonly type: 'end'; readonly end: BuildLogEnd; readonly complete: boolean }

/** How a log is followed. */
export interface FollowOptions {
  readonly signal: AbortSignal
  /** How many lines that are there already are wanted. */
  readonly limit?: number
  readonly wait?: Wait
  readonly clock?: () => number
  readonly silenceMs?: number
  readonly patienceMs?: number
}

/** Follows a log to its end, over as many connections as it takes, each line once and in order. */
export async function* followLog(
  client: CloudClient,
  buildId: string,
  options: FollowOptions,
): AsyncGenerator<FollowEvent, void> {
  const { signal, limit = BUILD_LOG_LIMIT.max, wait = realWait, clock = () => performance.now() } = options
  const { silenceMs = SILENCE_MS, patienceMs = PATIENCE_MS } = options
  const reader = new LogReader()
  let lostAt: number | undefined
  let tries = 0
  for (;;) {
    try {
      const lastEventId = reader.lastId
      const response = await client.openLog(buildId, { limit, lastEventId, signal })
      if (lostAt !== undefined) yield { type: 'resumed', next: reader.next, afterMs: clock() - lostAt }
      lostAt = undefined
      for await (const event of eventsOf(response, silenceMs, signal)) {
        tries = 0
        for (const one of reader.read(event)) {
          yield one
          if (one.type === 'end') return
        }
      }
      throw RemoteError.local('CONNECTION_LOST', 'closed')
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RemoteError) || !error.isPassing) throw error
      if (lostAt === undefined) {
        lostAt = clock()
        yield { type: 'lost', reason: error.message, next: reader.next }
      }
      if (clock() - lostAt > patienceMs) {
        throw RemoteError.local(
          'CONNECTION_LOST',
          `The connection to the cloud at ${client.url} was lost, and did not come back within ${Math.round(patienceMs / 1000)} seconds.`,
          { cause: error },
        )
      }
      await wait(error.retryAfterMs ?? backOff(tries), signal)
      tries += 1
    }
  }
}

/** Keeps count of lines. */
class LogReader {
  readonly #hash = createHash('sha256')
  #next = 0
  #seen = 0
  #lastId: string | undefined

  /** The number of the line that comes next. */
  get next(): number {
    return this.#next
  }

  get lastId(): string | undefined {
    return this.#lastId
  }

  *read({ id, type, data }: StreamEvent): Generator<FollowEvent> {
    if (type === 'end') {
      const end = readAnswer(buildLogEnd, jsonOf(data), 'The cloud')
      const isAll = this.#seen === end.lines && this.#hash.copy().digest('hex') === end.sha256
      yield { type: 'end', end, complete: isAll }
      return
    }
    const number = /^\d{1,15}$/.test(id ?? '') ? Number(id) : Number.NaN
    const text = jsonOf(data)
    if (type !== 'message' || Number.isNaN(number) || typeof text !== 'string') return
    // A line that was there before the connection broke is not shown twice.
    if (number < this.#next) return
    if (number > this.#next) yield { type: 'skipped', from: this.#next, to: number }
    this.#next = number + 1
    this.#seen += 1
    this.#lastId = id
    this.#hash.update(`${text}\n`)
    yield { type: 'line', number, text }
  }
}

/** The events of one connection; it throws when that breaks or falls silent. */
async function* eventsOf(
  response: Response,
  silenceMs: number,
  signal: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const body = response.body?.getReader()
  if (body === undefined) return
  const parser = new EventStreamParser()
  const decoder = new TextDecoder()
  try {
    for (;;) {
      const { done, value } = await withinSilence(body.read(), silenceMs)
      if (done) return
      yield* parser.push(decoder.decode(value, { stream: true }))
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof RemoteError) throw error
    throw RemoteError.local('CONNECTION_LOST', reasonOf(error), { cause: error })
  } finally {
    await body.cancel().catch(() => {})
  }
}

async function withinSilence<T>(reading: Promise<T>, silenceMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    const error = RemoteError.local('CONNECTION_LOST', `nothing was heard for ${silenceMs / 1000} seconds`)
    timer = setTimeout(() => reject(error), silenceMs)
  })
  try {
    return await Promise.race([reading, silence])
  } finally {
    clearTimeout(timer)
  }
}

function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
