import { EventStreamParser, type StreamEvent } from './event-stream.ts'
import { RemoteError, reasonOf } from './remote-error.ts'
import { backOff, realWait, type Wait } from './retry.ts'

/** Three times the beat of the cloud: nothing at all for so long means that nobody is there. */
const SILENCE_MS = 45_000
/** For so long a cloud may be away. */
const PATIENCE_MS = 5 * 60_000

/** What happens on a stream that goes over several connections. */
export type ResumedEvent =
  | { readonly type: 'event'; readonly event: StreamEvent }
  | { readonly type: 'lost'; readonly reason: string }
  | { readonly type: 'resumed'; readonly afterMs: number }

/** How a stream is followed. */
export interface StreamOptions {
  readonly signal: AbortSignal
  readonly wait?: Wait
  readonly clock?: () => number
  readonly silenceMs?: number
  readonly patienceMs?: number
}

/** Where a stream is from. */
export interface StreamSource {
  /** The address of the cloud, for people. */
  readonly url: string
  /** Connects, so that the stream goes on where it was. */
  open(): Promise<Response>
}

/** The events of a stream, over as many connections as it takes. It has no end of its own: who reads it knows which event is the last. */
export async function* resumedStream(
  { url, open }: StreamSource,
  options: StreamOptions,
): AsyncGenerator<ResumedEvent, never> {
  const { signal, wait = realWait, clock = () => performance.now() } = options
  const { silenceMs = SILENCE_MS, patienceMs = PATIENCE_MS } = options
  let lostAt: number | undefined
  let tries = 0
  for (;;) {
    try {
      const response = await open()
      if (lostAt !== undefined) yield { type: 'resumed', afterMs: clock() - lostAt }
      lostAt = undefined
      for await (const event of eventsOf(response, silenceMs, signal)) {
        tries = 0
        yield { type: 'event', event }
      }
      throw RemoteError.local('CONNECTION_LOST', 'closed')
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof RemoteError) || !error.isPassing) throw error
      if (lostAt === undefined) {
        lostAt = clock()
        yield { type: 'lost', reason: error.message }
      }
      if (clock() - lostAt > patienceMs) {
        throw RemoteError.local(
          'CONNECTION_LOST',
          `The connection to the cloud at ${url} was lost, and did not come back within ${Math.round(patienceMs / 1000)} seconds.`,
          { cause: error },
        )
      }
      await wait(error.retryAfterMs ?? backOff(tries), signal)
      tries += 1
    }
  }
}

/** What an event holds, if it is JSON. */
export function jsonOf(data: string): unknown {
  try {
    return JSON.parse(data)
  } catch {
    return undefined
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
