import type { BuildLogEnd } from '@botcli/protocol/cloud'
import { EventStreamParser } from '../api/event-stream.ts'
import type { LogLine } from './log-lines.ts'

/** What a piece of a log's stream holds. */
export interface LogPiece {
  readonly lines: readonly LogLine[]
  /** There with the last piece of a log that is complete. */
  readonly end?: BuildLogEnd
}

/** The pieces of a log's stream as they arrive, also those without a line, which show that the other side is there. */
export async function* logPieces(response: Response): AsyncGenerator<LogPiece> {
  const { body } = response
  if (body === null) return
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const parser = new EventStreamParser()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield pieceOf(parser, decoder.decode(value, { stream: true }))
    }
  } finally {
    // What is still on its way is not wanted.
    await reader.cancel().catch(() => {})
  }
}

function pieceOf(parser: EventStreamParser, text: string): LogPiece {
  const lines: LogLine[] = []
  let end: BuildLogEnd | undefined
  for (const { id, type, data } of parser.push(text)) {
    if (type === 'message') lines.push({ number: Number(id), text: String(JSON.parse(data)) })
    else if (type === 'end') end = JSON.parse(data)
  }
  return end === undefined ? { lines } : { lines, end }
}
