import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http'
import { BUILD_LOG_LIMIT, type BuildStatus, isFinal } from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import { preferredType } from './accept.ts'
import { COMMENT_MS, endEvent, eventsOf, STREAM_COMMENT, STREAM_START } from './log-events.ts'
import type { Awaitable, LogFollower, LogPage, LogState, LogStore } from './log-store.ts'
import { textOf } from './log-text.ts'
import { decodeToken, encodeToken } from './log-token.ts'
import { ReadyPages } from './ready-pages.ts'
import { ResponseBuffers } from './response-buffers.ts'
import { type After, ResponseStream, realAfter, sendComments } from './response-stream.ts'

const TYPES = ['application/json', 'text/event-stream', 'text/plain'] as const
const PREFIX = Buffer.from('{"logs":[')
/** The query of nearly all requests; others are taken apart as the standard says. */
const USUAL_QUERY = /^limit=(\d{1,9})(?:&nextToken=([\w-]+))?$/
/** Answers up to this size are sent in one go: reading them takes a fraction of a millisecond. */
const MAX_WHOLE_BYTES = 4 * 1024 * 1024
/** The status turns final right after the log was sealed. */
const STATUS_MS = 100
const MAX_FOLLOWERS = 1000

/** A build whose log the caller may read. */
export interface LoggedBuild {
  readonly buildId: string
  /** Asked after the log was sealed, until it is final. It may reject when the build is gone. */
  status(): Awaitable<BuildStatus>
}

/** What can be set for a route. */
export interface LogRouteOptions {
  readonly after?: After
  readonly maxFollowers?: number
}

interface Query {
  readonly limit: number
  /** Only lines before this one. */
  readonly before: number | undefined
}

/** Serves `GET /v1/builds/{buildId}/logs` on bare requests and responses, with the bytes as they are stored. */
export class LogRoute {
  readonly #logs: LogStore
  readonly #after: After
  readonly #maxFollowers: number
  readonly #buffers = new ResponseBuffers()
  readonly #ready = new ReadyPages()
  readonly #followers = new Set<LogFollower>()
  #closed = false

  constructor(logs: LogStore, options: LogRouteOptions = {}) {
    this.#logs = logs
    this.#after = options.after ?? realAfter
    this.#maxFollowers = options.maxFollowers ?? MAX_FOLLOWERS
  }

  /**
   * Answers a request whose caller is known and may see the build. It fails with a CloudError when the request is at fault, and then
   * nothing was sent yet. It is done when the response is complete, or its client gone; that may be at once.
   */
  serve(request: IncomingMessage, response: ServerResponse, build: LoggedBuild): Awaitable<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      throw new CloudError(
        'METHOD_NOT_ALLOWED',
        `A log can be read with GET and HEAD, not with ${request.method}.`,
      )
    }
    const query = parseQuery(request.url ?? '', build.buildId)
    const type = preferredType(request.headers.accept, TYPES)
    if (type === 'text/event-stream') return this.#follow(request, response, build, query)
    const asked =
      query.before === undefined
        ? this.#logs.tail(build.buildId, query.limit)
        : this.#before(build.buildId, query.before, query.limit)
    const send = (page: LogPage): Awaitable<void> =>
      type === 'text/plain'
        ? this.#sendText(request, response, page, build.buildId, query.limit)
        : this.#sendJson(request, response, page, build.buildId)
    return asked instanceof Promise ? asked.then(send) : send(asked)
  }

  /** Ends all event streams. */
  close(): void {
    this.#closed = true
    for (const follower of this.#followers) follower.close()
  }

  #before(id: string, before: number, limit: number): Awaitable<LogPage> {
    const read = ({ end }: LogState): Awaitable<LogPage> => {
      if (before > end) throw invalid('The nextToken is of lines that this log does not have.')
      return this.#logs.before(id, before, limit)
    }
    const state = this.#logs.state(id)
    return state instanceof Promise ? state.then(read) : read(state)
  }

  #sendJson(
    request: IncomingMessage,
    response: ServerResponse,
    page: LogPage,
    buildId: string,
  ): Awaitable<void> {
    const etag = `"${page.tag}"`
    if (isKnown(request, etag)) return sendUnchanged(response, etag)
    const key = `${buildId} ${page.tag}`
    const ready = request.method === 'GET' ? this.#ready.get(key) : undefined
    if (ready !== undefined) {
      response.writeHead(200, ready.head).end(ready.body)
      return
    }
    const token = tokenOf(page, buildId)
    const suffix = token === undefined ? ']}' : `],"nextToken":"${token}"}`
    const length = PREFIX.length + page.bytes + suffix.length
    const head = [...headOf('application/json', etag), 'content-length', length]
    if (request.method === 'HEAD') {
      response.writeHead(200, head).end()
      return
    }
    if (length > MAX_WHOLE_BYTES) {
      const pieces = page.pieces()[Symbol.asyncIterator]()
      return sendPieces(response, head, pieces, { prefix: PREFIX, suffix, after: this.#after })
    }
    const isWanted = this.#ready.isWanted(key, length)
    const buffer = isWanted ? Buffer.allocUnsafeSlow(length) : this.#buffers.take(length)
    PREFIX.copy(buffer)
    const send = () => {
      buffer.write(suffix, PREFIX.length + page.bytes, 'latin1')
      const body = buffer.subarray(0, length)
      if (isWanted) this.#ready.keep(key, { head, body })
      // After `finish` the kernel has all of it. A buffer whose client went away is left to the garbage collector.
      else response.once('finish', () => this.#buffers.give(buffer))
      response.writeHead(200, head).end(body)
    }
    const copied = page.copyTo(buffer, PREFIX.length)
    return copied instanceof Promise ? copied.then(send) : send()
  }

  async #sendText(
    request: IncomingMessage,
    response: ServerResponse,
    page: LogPage,
    buildId: string,
    limit: number,
  ): Promise<void> {
    const etag = `"text-${page.tag}"`
    if (isKnown(request, etag)) return sendUnchanged(response, etag)
    const token = tokenOf(page, buildId)
    const link = token === undefined ? [] : ['link', `<?limit=${limit}&nextToken=${token}>; rel="next"`]
    const head = [...headOf('text/plain; charset=utf-8', etag), 'x-content-type-options', 'nosniff', ...link]
    if (request.method === 'HEAD') {
      response.writeHead(200, head).end()
    } else {
      const pieces = textOf(page)
      await sendPieces(response, head, pieces, { prefix: '', suffix: '', after: this.#after })
    }
  }

  async #follow(
    request: IncomingMessage,
    response: ServerResponse,
    build: LoggedBuild,
    query: Query,
  ): Promise<void> {
    if (query.before !== undefined) {
      throw invalid('nextToken is for pages. A stream goes on after the line in the header Last-Event-ID.')
    }
    if (this.#closed) throw new CloudError('UNAVAILABLE', 'The cloud is stopping.')
    if (this.#followers.size >= this.#maxFollowers) {
      throw new CloudError(
        'RATE_LIMITED',
        `${this.#maxFollowers} streams are open already; no more are served.`,
        {
          retryAfterSeconds: 5,
        },
      )
    }
    const from = await this.#startOf(request, build, query)
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      vary: 'Accept',
      'x-accel-buffering': 'no',
    })
    if (request.method === 'HEAD') {
      response.end()
      return
    }
    const follower = this.#logs.follow(build.buildId, from)
    this.#followers.add(follower)
    const stop = () => follower.close()
    response.once('close', stop)
    const stream = new ResponseStream(response, this.#after)
    const endComments = sendComments(stream, STREAM_COMMENT, COMMENT_MS, this.#after)
    try {
      if (!(await stream.send(STREAM_START))) return
      for await (const slice of follower) if (!(await stream.send(eventsOf(slice)))) return
      const end = await this.#endOf(build, stream)
      if (end !== undefined) await stream.send(end)
    } finally {
      endComments()
      this.#followers.delete(follower)
      follower.close()
      response.off('close', stop)
      response.end()
    }
  }

  /** The number of the line with which a stream begins. */
  async #startOf(request: IncomingMessage, build: LoggedBuild, { limit }: Query): Promise<number> {
    const last = request.headers['last-event-id']
    if (last === undefined || last === '') return (await this.#logs.tail(build.buildId, limit)).first
    if (typeof last !== 'string' || !/^\d{1,15}$/.test(last)) {
      throw invalid('Last-Event-ID must be the number of a line, as the stream gave it.')
    }
    const { end } = await this.#logs.state(build.buildId)
    return Math.min(Number(last) + 1, end)
  }

  /** The last event, once the log is sealed and the status final; nothing when it does not come to that. */
  async #endOf(build: LoggedBuild, stream: ResponseStream): Promise<string | undefined> {
    try {
      const { sealed, sha256, end: lines } = await this.#logs.state(build.buildId)
      if (!sealed || sha256 === undefined) return undefined
      while (!stream.gone && !this.#closed) {
        const status = await build.status()
        if (isFinal(status)) return endEvent({ status, lines, sha256 })
        await new Promise<void>((resolve) => this.#after(STATUS_MS, resolve))
      }
    } catch {
      // The build was removed, or the cloud stops: the stream just ends, and a client that comes back is told.
    }
    return undefined
  }
}

function parseQuery(url: string, buildId: string): Query {
  const mark = url.indexOf('?')
  if (mark < 0) return { limit: BUILD_LOG_LIMIT.default, before: undefined }
  const { limit, token } = splitQuery(url.slice(mark + 1))
  const before = token === undefined ? undefined : decodeToken(buildId, token)
  if (token !== undefined && before === undefined) {
    throw invalid('nextToken is malformed or of another build. Send it as an answer for this build gave it.')
  }
  return { limit: parseLimit(limit), before }
}

function splitQuery(text: string): { limit: string | undefined; token: string | undefined } {
  const [, limit, token] = USUAL_QUERY.exec(text) ?? []
  if (limit !== undefined) return { limit, token }
  const query = new URLSearchParams(text)
  for (const name of query.keys()) {
    if (name === 'limit' || name === 'nextToken') continue
    throw invalid(`The parameters are limit and nextToken, not ${JSON.stringify(name.slice(0, 50))}.`)
  }
  return { limit: once(query, 'limit'), token: once(query, 'nextToken') }
}

function parseLimit(text: string | undefined): number {
  if (text === undefined) return BUILD_LOG_LIMIT.default
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (limit >= BUILD_LOG_LIMIT.min && limit <= BUILD_LOG_LIMIT.max) return limit
  throw invalid(
    `limit must be a whole number from ${BUILD_LOG_LIMIT.min} to ${BUILD_LOG_LIMIT.max}, not ${JSON.stringify(text.slice(0, 50))}.`,
  )
}

function once(query: URLSearchParams, name: string): string | undefined {
  const values = query.getAll(name)
  if (values.length > 1) throw invalid(`${name} may be given once, not ${values.length} times.`)
  return values[0]
}

function invalid(message: string): CloudError {
  return new CloudError('INVALID_REQUEST', message)
}

/** What stands for the lines before a page, if there are any. */
function tokenOf(page: LogPage, buildId: string): string | undefined {
  return page.first > 0 ? encodeToken(buildId, page.first) : undefined
}

/** Names and values in turns, which is what costs a response least. */
function headOf(type: string, etag: string): OutgoingHttpHeader[] {
  return ['content-type', type, 'cache-control', 'private, no-cache', 'vary', 'Accept', 'etag', etag]
}

/** Whether the client has this version already. */
function isKnown(request: IncomingMessage, etag: string): boolean {
  const known = request.headers['if-none-match']
  if (known === undefined) return false
  return known.split(',').some((one) => one.trim() === '*' || one.trim().replace(/^W\//, '') === etag)
}

function sendUnchanged(response: ServerResponse, etag: string): void {
  response.writeHead(304, { 'cache-control': 'private, no-cache', vary: 'Accept', etag }).end()
}

async function sendPieces(
  response: ServerResponse,
  head: OutgoingHttpHeader[],
  pieces: AsyncIterator<Uint8Array | string>,
  { prefix, suffix, after }: { prefix: Uint8Array | string; suffix: string; after: After },
): Promise<void> {
  const stream = new ResponseStream(response, after)
  try {
    // What can go wrong goes wrong before the head is sent.
    let piece = await pieces.next()
    response.writeHead(200, head)
    if (prefix.length > 0) response.write(prefix)
    while (piece.done !== true) {
      const { value } = piece
      const sent = typeof value === 'string' ? await stream.send(value) : await stream.sendReused(value)
      if (!sent) return
      piece = await pieces.next()
    }
    response.end(suffix)
  } catch (error) {
    if (!response.headersSent) throw error
    response.destroy(error instanceof Error ? error : undefined)
  } finally {
    await pieces.return?.()
  }
}
