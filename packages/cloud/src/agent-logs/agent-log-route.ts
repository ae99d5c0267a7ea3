import type { IncomingMessage, ServerResponse } from 'node:http'
import { CloudError } from '../errors.ts'
import { preferredType } from '../logs/accept.ts'
import { type After, ResponseStream, realAfter } from '../logs/response-stream.ts'
import { textOf, wireEntry } from './agent-log-spelling.ts'
import type { AgentLogPage, AgentLogStore } from './agent-log-store.ts'
import { cursorAfter, invalid, type LogsRequest, parseLogsQuery } from './agent-logs-query.ts'
import { markOf, parseEventId } from './event-id.ts'
import { LogStream, type SessionEnd, type StreamStart } from './log-stream.ts'
import { oldestFirst, windowsOf } from './log-windows.ts'

const TYPES = ['application/json', 'text/event-stream', 'text/plain'] as const
const MAX_FOLLOWERS = 1000
const RETRY_SECONDS = 5

/** What can be set for a route. */
export interface AgentLogRouteOptions {
  readonly after?: After
  readonly maxFollowers?: number
  /** Whether an agent has a session, or had it lately; without it, any may be asked for. */
  readonly hasSession?: (agentId: string, sessionId: string) => Promise<boolean>
  /** Asked for streams of one session; without it they go on until their client leaves. */
  readonly ended?: SessionEnd
  /** Whether the log of an agent is kept; without it, that of every one is. */
  readonly isKept?: (agentId: string) => boolean
}

/** Serves `GET /v1/agents/{agentName}/logs` on bare requests and responses. */
export class AgentLogRoute {
  readonly #logs: AgentLogStore
  readonly #after: After
  readonly #maxFollowers: number
  readonly #hasSession: AgentLogRouteOptions['hasSession']
  readonly #ended: SessionEnd | undefined
  readonly #isKept: (agentId: string) => boolean
  /** The open streams, by their agent's id. */
  readonly #streams = new Map<LogStream, string>()
  #closed = false

  constructor(logs: AgentLogStore, options: AgentLogRouteOptions = {}) {
    this.#logs = logs
    this.#after = options.after ?? realAfter
    this.#maxFollowers = options.maxFollowers ?? MAX_FOLLOWERS
    this.#hasSession = options.hasSession
    this.#ended = options.ended
    this.#isKept = options.isKept ?? (() => true)
  }

  /**
   * Answers a request whose caller may see the agent. It fails with a CloudError when the request is at fault, and then nothing was sent
   * yet. It is done when the response is complete, or its client gone.
   */
  async serve(request: IncomingMessage, response: ServerResponse, agentId: string): Promise<void> {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      throw new CloudError(
        'METHOD_NOT_ALLOWED',
        `A log can be read with GET and HEAD, not with ${request.method}.`,
      )
    }
    const asked = parseLogsQuery(request.url ?? '', agentId)
    await this.#checkSession(agentId, asked.filter.sessionId)
    const type = preferredType(request.headers.accept, TYPES)
    if (type === 'text/event-stream') return this.#follow(request, response, agentId, asked)
    if (type === 'text/plain') return this.#sendText(request, response, agentId, asked)
    return this.#sendJson(request, response, agentId, asked)
  }

  /** A session of this agent may be over: streams that wait for its end look. */
  wake(agentId: string): void {
    for (const [stream, id] of this.#streams) if (id === agentId) stream.nudge()
  }

  /** Ends all event streams. */
  close(): void {
    this.#closed = true
    for (const stream of this.#streams.keys()) stream.close()
  }

  /** Who has mistyped an id would otherwise see an empty log, or wait for ever for what never was. */
  async #checkSession(agentId: string, sessionId: string | undefined): Promise<void> {
    if (sessionId === undefined || this.#hasSession === undefined) return
    if (await this.#hasSession(agentId, sessionId)) return
    throw new CloudError('NOT_FOUND', `The agent has no session ${sessionId}.`)
  }

  async #sendJson(
    request: IncomingMessage,
    response: ServerResponse,
    agentId: string,
    asked: LogsRequest,
  ): Promise<void> {
    const spell = ({ entries }: AgentLogPage) => entries.map((entry) => JSON.stringify(wireEntry(entry)))
    let isFirst = true
    await sendPieces(request, response, this.#after, {
      head: { 'content-type': 'application/json' },
      pages: windowsOf(this.#logs, agentId, asked, true),
      spell: (page) => {
        const start = isFirst ? `{"total":${JSON.stringify(page.total)},"logs":[` : ',\n'
        // What was to come next may have been pruned meanwhile.
        if (!isFirst && page.entries.length === 0) return ''
        isFirst = false
        return start + spell(page).join(',\n')
      },
      end: ({ hasMore, entries }) => {
        const last = entries.at(-1)
        if (!hasMore || last === undefined) return ']}'
        return `],"nextCursor":"${cursorAfter(agentId, asked.order, last.id)}"}`
      },
    })
  }

  async #sendText(
    request: IncomingMessage,
    response: ServerResponse,
    agentId: string,
    asked: LogsRequest,
  ): Promise<void> {
    await sendPieces(request, response, this.#after, {
      head: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
      pages: oldestFirst(this.#logs, agentId, asked),
      spell: ({ entries }) => entries.map(textOf).join(''),
      end: () => '',
    })
  }

  async #follow(
    request: IncomingMessage,
    response: ServerResponse,
    agentId: string,
    asked: LogsRequest,
  ): Promise<void> {
    if (asked.after !== undefined || asked.offset !== undefined) {
      throw invalid(
        'cursor and offset are for pages. A stream goes on after the entry in the header Last-Event-ID.',
      )
    }
    if (this.#closed) throw new CloudError('UNAVAILABLE', 'The cloud is stopping.')
    if (this.#streams.size >= this.#maxFollowers) {
      const message = `${this.#maxFollowers} streams are open already; no more are served.`
      throw new CloudError('RATE_LIMITED', message, { retryAfterSeconds: RETRY_SECONDS })
    }
    const stream = new LogStream({
      ...{ logs: this.#logs, agentId, filter: asked.filter, response },
      ...{ after: this.#after, ended: this.#ended, isKept: this.#isKept },
    })
    this.#streams.set(stream, agentId)
    try {
      const start = await this.#startOf(request, agentId, asked)
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        vary: 'Accept',
        'x-accel-buffering': 'no',
      })
      if (request.method !== 'HEAD') await stream.run(start)
    } catch (error) {
      if (!response.headersSent) throw error
      // The cloud stops, or cannot read the log: the stream just ends, and a client that comes back is told.
    } finally {
      this.#streams.delete(stream)
      if (response.headersSent) response.end()
    }
  }

  async #startOf(request: IncomingMessage, agentId: string, asked: LogsRequest): Promise<StreamStart> {
    const last = request.headers['last-event-id']
    const newest = await this.#logs.newest(agentId)
    if (last === undefined || last === '') {
      let first = newest + 1
      for await (const { entries } of windowsOf(this.#logs, agentId, { ...asked, order: 'desc' }, false)) {
        first = entries.at(-1)?.id ?? first
      }
      return { after: first - 1, reset: undefined }
    }
    const id = typeof last === 'string' ? parseEventId(last) : undefined
    if (id === undefined) {
      throw invalid(
        'Last-Event-ID must be the id of an event, as the stream gave it, or the number of an entry.',
      )
    }
    // A number that no entry has had yet is one of another log, too.
    const isOther = id.mark === undefined ? id.entry > newest : id.mark !== markOf(agentId)
    if (isOther) return { after: 0, reset: { missed: true, replaced: true } }
    const after = Math.min(id.entry, newest)
    const window = { limit: 1, order: 'asc', counted: false } as const
    const [oldest] = (await this.#logs.page(agentId, {}, window)).entries
    const isPruned = after < newest && (oldest === undefined || oldest.id > after + 1)
    // What a client has had and we have not any more, a power cut has taken; the numbers of it are given again.
    return { after, reset: isPruned || after < id.entry ? { missed: true } : undefined }
  }
}

/** An answer that is made of pages, one at a time. */
interface Pieces {
  readonly head: Readonly<Record<string, string>>
  readonly pages: AsyncGenerator<AgentLogPage>
  readonly spell: (page: AgentLogPage) => string
  /** What comes after the last page. */
  readonly end: (last: AgentLogPage) => string
}

async function sendPieces(
  request: IncomingMessage,
  response: ServerResponse,
  after: After,
  { head, pages, spell, end }: Pieces,
): Promise<void> {
  const stream = new ResponseStream(response, after)
  const isHead = request.method === 'HEAD'
  try {
    // What can go wrong goes wrong before the head is sent.
    let page = await pages.next()
    response.writeHead(200, { ...head, 'cache-control': 'no-store', vary: 'Accept' })
    let rest = ''
    while (page.done !== true && !isHead) {
      if (!(await stream.send(spell(page.value)))) return
      rest = end(page.value)
      page = await pages.next()
    }
    response.end(rest)
  } catch (error) {
    if (!response.headersSent) throw error
    response.destroy(error instanceof Error ? error : undefined)
  } finally {
    await pages.return(undefined)
  }
}
