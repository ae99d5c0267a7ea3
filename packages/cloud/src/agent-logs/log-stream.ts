import type { ServerResponse } from 'node:http'
import type { AgentLogRemoved, AgentLogReset } from '@botcli/protocol/cloud'
import { COMMENT_MS, STREAM_COMMENT } from '../logs/log-events.ts'
import { type After, ResponseStream, sendComments } from '../logs/response-stream.ts'
import { eventOf, noticeOf, startOf } from './agent-log-spelling.ts'
import type { AgentLogFilter, AgentLogFollower, AgentLogStore, StoredLogEntry } from './agent-log-store.ts'
import { windowsOf } from './log-windows.ts'

/** Whether a session is over, and its log complete: the body of the last event; nothing if it goes on. */
export type SessionEnd = (agentId: string, sessionId: string) => Promise<object | undefined>

const REMOVED: AgentLogRemoved = { reason: 'agent_removed' }

/** What a stream needs. */
export interface LogStreamParts {
  readonly logs: AgentLogStore
  readonly agentId: string
  readonly filter: AgentLogFilter
  readonly response: ServerResponse
  readonly after: After
  readonly ended: SessionEnd | undefined
  /** Whether the log of an agent is kept: it goes some time after its agent. */
  readonly isKept: (agentId: string) => boolean
}

/** Where a stream begins. */
export interface StreamStart {
  readonly after: number
  /** What the client is told first, if not all that it would have had is there. */
  readonly reset: AgentLogReset | undefined
}

/** The log of an agent as a stream of events, for one client. */
export class LogStream {
  readonly #parts: LogStreamParts
  readonly #stream: ResponseStream
  #follower: AgentLogFollower | undefined
  #wake: (() => void) | undefined
  #isNudged = false
  #closed = false
  /** The last entry that was sent. */
  #at = 0

  constructor(parts: LogStreamParts) {
    this.#parts = parts
    this.#stream = new ResponseStream(parts.response, parts.after)
  }

  /** The session may be over. */
  nudge(): void {
    this.#isNudged = true
    this.#wake?.()
  }

  close(): void {
    this.#closed = true
    this.#follower?.close()
  }

  /** Sends events until the client leaves, the session is over, the log is removed, or it is closed. The head was sent. */
  async run(start: StreamStart): Promise<void> {
    const { logs, agentId, filter, response, after } = this.#parts
    if (this.#closed) return
    const follower = logs.follow(agentId, filter, start.after)
    const stop = () => follower.close()
    this.#follower = follower
    this.#at = start.after
    response.once('close', stop)
    const endComments = sendComments(this.#stream, STREAM_COMMENT, COMMENT_MS, after)
    try {
      const notice = start.reset ? noticeOf('reset', start.reset) : ''
      await this.#stream.send(startOf(agentId, start.after) + notice)
      // It may have been removed before it was followed, and then nobody would say so.
      if (!follower.isRemoved && !this.#isKept) await this.#stream.send(noticeOf('end', REMOVED))
      else await this.#follow(follower)
    } finally {
      endComments()
      follower.close()
      response.off('close', stop)
    }
  }

  async #follow(follower: AgentLogFollower): Promise<void> {
    const batches = follower[Symbol.asyncIterator]()
    let next = batches.next()
    try {
      while (!this.#stream.gone && !(await this.#hasEnded())) {
        const batch = await Promise.race([next, this.#nudged()])
        if (batch === undefined) continue
        if (batch.done === true) {
          if (!this.#closed) await this.#tellRemoved(follower)
          return
        }
        if (!(await this.#send(batch.value))) return
        next = batches.next()
      }
    } finally {
      // Nobody waits for it any more.
      next.catch(() => {})
    }
  }

  /** The log of a session stays what it is until the session is over, though nothing is left of it. */
  get #isKept(): boolean {
    const { filter, isKept, agentId } = this.#parts
    return filter.sessionId !== undefined || isKept(agentId)
  }

  /** There are no more entries: the log is removed, perhaps in the moment in which the session is over, or the store is closed. */
  async #tellRemoved({ isRemoved }: AgentLogFollower): Promise<void> {
    if (this.#parts.filter.sessionId !== undefined) await this.#hasEnded()
    else if (isRemoved) await this.#stream.send(noticeOf('end', REMOVED))
  }

  /** Sends what is left and the last event, if the session is over. */
  async #hasEnded(): Promise<boolean> {
    const { ended, filter, logs, agentId } = this.#parts
    this.#isNudged = false
    if (ended === undefined || filter.sessionId === undefined) return false
    const end = await ended(agentId, filter.sessionId)
    if (end === undefined) return false
    const rest = { filter, order: 'asc', limit: Number.MAX_SAFE_INTEGER, offset: 0, after: this.#at } as const
    for await (const { entries } of windowsOf(logs, agentId, rest, false)) {
      if (!(await this.#send(entries))) return true
    }
    await this.#stream.send(noticeOf('end', end))
    return true
  }

  async #send(entries: readonly StoredLogEntry[]): Promise<boolean> {
    this.#at = entries.at(-1)?.id ?? this.#at
    const { agentId } = this.#parts
    return this.#stream.send(entries.map((entry) => eventOf(agentId, entry)).join(''))
  }

  #nudged(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#wake = () => resolve(undefined)
      if (this.#isNudged) resolve(undefined)
    })
  }
}
