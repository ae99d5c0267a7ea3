import type { AgentLogEntry, AgentLogRemoved, AgentLogReset } from '@botcli/protocol/cloud'
import type { AgentsApi, LogFilter } from '../api/agents-api.ts'
import type { LogLine, LogLines } from './log-lines.ts'
import type { LogSource } from './log-source.ts'
import { type LogEnd, type LogPiece, type OpenLog, streamEvents } from './log-stream.ts'

/** How many of the newest entries come first. */
const NEWEST = 1_000
const OLDER = 2_000
const DOWNLOADED = 10_000
const REMOVED = 'The agent was removed, and its log with it.'
const REPLACED = 'The agent was removed. What follows is the log of the one that has its name now.'
const MISSED = 'Entries that were here are no longer kept: the log has become too long or too old.'

/** The log of an agent, of one of its sessions, or of whatever else a filter lets through. */
export class AgentLogSource implements LogSource {
  readonly counted = false
  readonly #api: AgentsApi
  readonly #agent: string
  readonly #filter: LogFilter
  /** Leads to older entries; nothing when there are none. */
  #cursor: string | undefined
  #end = 0

  constructor(api: AgentsApi, agent: string, filter: LogFilter) {
    this.#api = api
    this.#agent = agent
    this.#filter = filter
  }

  /** The newest entries come as a page, because a page leads to those before it, and then all others as a stream. */
  readonly open: OpenLog = async (lastId, signal) => {
    const newest = lastId === undefined ? await this.#newest() : []
    const after = newest.at(-1)?.id.toString() ?? lastId
    const start = { limit: NEWEST, lastId: after }
    const stream = await this.#api.logStream(this.#agent, this.#filter, start, signal)
    return this.#pieces(newest, after, stream)
  }

  hasOlder(lines: LogLines): boolean {
    return this.#cursor !== undefined && !lines.isCut
  }

  async older(_: number, to: number): Promise<readonly LogLine[]> {
    const wanted = { limit: OLDER, cursor: this.#cursor }
    const { logs, nextCursor } = await this.#api.logPage(this.#agent, this.#filter, wanted)
    this.#cursor = nextCursor
    const lines = logs.toReversed().flatMap(linesOf)
    return lines.map((line, index) => ({ ...line, number: to - lines.length + index }))
  }

  async *pages(): AsyncGenerator<readonly string[]> {
    let cursor: string | undefined
    do {
      const wanted = { limit: DOWNLOADED, cursor }
      const { logs, nextCursor } = await this.#api.logPage(this.#agent, this.#filter, wanted)
      yield logs.toReversed().map(plainEntry)
      cursor = nextCursor
    } while (cursor !== undefined)
  }

  async #newest(): Promise<readonly AgentLogEntry[]> {
    const wanted = { limit: NEWEST, cursor: undefined }
    const { logs, nextCursor } = await this.#api.logPage(this.#agent, this.#filter, wanted)
    this.#cursor = nextCursor
    return logs.toReversed()
  }

  async *#pieces(
    newest: readonly AgentLogEntry[],
    lastId: string | undefined,
    stream: Response,
  ): AsyncGenerator<LogPiece> {
    yield { lines: this.#numbered(newest.flatMap(linesOf)), lastId }
    for await (const events of streamEvents(stream)) {
      const lines: Omit<LogLine, 'number'>[] = []
      let last: string | undefined
      let end: LogEnd | undefined
      for (const { id, type, data } of events) {
        if (id !== '') last = id
        if (type === 'message') lines.push(...linesOf(JSON.parse(data)))
        else if (type === 'reset') lines.push({ text: this.#resetWords(JSON.parse(data)) })
        else if (type === 'end') {
          end = {}
          const { reason }: Partial<AgentLogRemoved> = JSON.parse(data)
          if (reason === 'agent_removed') lines.push({ text: REMOVED })
        }
      }
      yield { lines: this.#numbered(lines), lastId: last, ...(end !== undefined && { end }) }
    }
  }

  #resetWords({ replaced }: AgentLogReset): string {
    if (!replaced) return MISSED
    // It leads to what is gone.
    this.#cursor = undefined
    return REPLACED
  }

  #numbered(lines: readonly Omit<LogLine, 'number'>[]): readonly LogLine[] {
    const from = this.#end
    this.#end += lines.length
    return lines.map((line, index) => ({ ...line, number: from + index }))
  }
}

function linesOf(entry: AgentLogEntry): readonly Omit<LogLine, 'number'>[] {
  return entry.log
    .replace(/\n+$/, '')
    .split('\n')
    .map((text, index) => ({ text, part: { entry, first: index === 0 } }))
}

/** An entry as it stands in a file: when, how grave, of which session, and what. */
export function plainEntry({ timestamp, level, source, sessionId, log }: AgentLogEntry): string {
  return [timestamp, level ?? 'info', sessionId?.slice(0, 8) ?? source, log.replace(/\n+$/, '')].join(' ')
}
