import type { BuildLogsResponse } from '@botcli/protocol/cloud'
import type { CloudApi } from '../api/cloud-api.ts'
import { readRange } from './log-follower.ts'
import type { LogLine, LogLines } from './log-lines.ts'
import { buildLogPieces, type OpenLog } from './log-stream.ts'

/** Nearly every log is read whole at once. */
const NEWEST = 10_000

/** Where the lines of one log come from. */
export interface LogSource {
  /** Whether the numbers of its lines count from the start of the log. */
  readonly counted: boolean
  /** Opens the stream of the log. */
  readonly open: OpenLog
  /** Whether there may be lines older than those held. */
  hasOlder(lines: LogLines): boolean
  /** The lines from one number up to another, which is not among them; where numbers tell nothing, some of those before the latter. */
  older(from: number, to: number, signal: AbortSignal): Promise<readonly LogLine[]>
  /** Pages of lines, the newest page first. */
  pages(): AsyncGenerator<readonly string[]>
}

/** The log of a build as the API gives it. */
export class BuildLogSource implements LogSource {
  readonly counted = true
  readonly #api: CloudApi
  readonly #buildId: string

  constructor(api: CloudApi, buildId: string) {
    this.#api = api
    this.#buildId = buildId
  }

  readonly open: OpenLog = async (lastId, signal) =>
    buildLogPieces(await this.#api.logStream(this.#buildId, { lastId, limit: NEWEST }, signal))

  hasOlder(lines: LogLines): boolean {
    return lines.above > 0
  }

  /**
   * Older lines are read as a stream too, because pages do not say which numbers their lines have. A stream begins after a line, so the
   * very first one is that of the oldest page.
   */
  async older(from: number, to: number, signal: AbortSignal): Promise<readonly LogLine[]> {
    const range = to > Math.max(1, from) ? await readRange(this.open, Math.max(1, from), to, signal) : []
    return from > 0 ? range : [...(await this.#firstLine(signal)), ...range]
  }

  async *pages(): AsyncGenerator<readonly string[]> {
    let token: string | undefined
    do {
      const { logs, nextToken }: BuildLogsResponse = await this.#api.logPage(this.#buildId, token)
      yield logs
      token = nextToken
    } while (token !== undefined)
  }

  async #firstLine(signal: AbortSignal): Promise<readonly LogLine[]> {
    let first: string | undefined
    for await (const page of this.pages()) {
      signal.throwIfAborted()
      first = page[0]
    }
    return first === undefined ? [] : [{ number: 0, text: first }]
  }
}
