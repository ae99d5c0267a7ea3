import { createHash } from 'node:crypto'
import { BUILD_LOG_LIMIT, type BuildLogEnd, buildLogEnd } from '@botcli/protocol/cloud'
import { readAnswer } from './answer.ts'
import type { CloudClient } from './cloud-client.ts'
import type { StreamEvent } from './event-stream.ts'
import { jsonOf, resumedStream, type StreamOptions } from './resumed-stream.ts'

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
export interface FollowOptions extends StreamOptions {
  /** How many lines that are there already are wanted. */
  readonly limit?: number
}

/** Follows a log to its end, over as many connections as it takes, each line once and in order. */
export async function* followLog(
  client: CloudClient,
  buildId: string,
  { limit = BUILD_LOG_LIMIT.max, ...options }: FollowOptions,
): AsyncGenerator<FollowEvent, void> {
  const reader = new LogReader()
  const { signal } = options
  const open = () => client.openLog(buildId, { limit, lastEventId: reader.lastId, signal })
  for await (const one of resumedStream({ url: client.url, open }, options)) {
    if (one.type !== 'event') yield { ...one, next: reader.next }
    else {
      for (const read of reader.read(one.event)) {
        yield read
        if (read.type === 'end') return
      }
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
