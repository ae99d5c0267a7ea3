import type { BuildLogEnd } from '@botcli/protocol/cloud'
import { EventStreamParser, type StreamEvent } from '../api/event-stream.ts'
import type { LogLine } from './log-lines.ts'

/** What the end of a log says of it. */
export interface LogEnd {
  /** How many lines there are, where that is told. */
  readonly lines?: number
}

/** What a piece of a log's stream holds. */
export interface LogPiece {
  readonly lines: readonly LogLine[]
  /** What a later stream goes on after, if this piece moves it. */
  readonly lastId?: string | undefined
  /** There with the last piece of a log that is complete. */
  readonly end?: LogEnd
}

/** Opens a log after an id, or at its newest lines, and gives it piece by piece. */
export type OpenLog = (lastId: string | undefined, signal: AbortSignal) => Promise<AsyncIterable<LogPiece>>

/** The events of a stream as they arrive, in pieces; also pieces without any, which show that the other side is there. */
export async function* streamEvents(response: Response): AsyncGenerator<readonly StreamEvent[]> {
  const { body } = response
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const parser = new EventStreamParser()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield parser.push(decoder.decode(value, { stream: true }))
    }
  } finally {
    // What is still on its way is not wanted.
    await reader.cancel().catch(() => {})
  }
}

/** The pieces of a build's log. The numbers of its lines are what its stream goes on after. */
export async function* buildLogPieces(response: Response): AsyncGenerator<LogPiece> {
  for await (const events of streamEvents(response)) {
    const lines: LogLine[] = []
    let end: BuildLogEnd | undefined
    for (const { id, type, data } of events) {
      if (type === 'message') lines.push({ number: Number(id), text: String(JSON.parse(data)) })
      else if (type === 'end') end = JSON.parse(data)
    }
    yield { lines, lastId: lines.at(-1)?.number.toString(), ...(end !== undefined && { end }) }
  }
}
