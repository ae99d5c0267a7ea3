import { createHash } from 'node:crypto'
import type { LogPage } from './log-store.ts'

const NEWLINE = 10
const COMMA = 44

/** The lines of a page as text, some at a time, each with a newline after it. */
export async function* textOf(page: LogPage): AsyncGenerator<string> {
  let rest: Uint8Array[] = []
  for await (const piece of page.pieces()) {
    const cut = piece.lastIndexOf(NEWLINE)
    if (cut < 0) {
      rest.push(Uint8Array.from(piece))
      continue
    }
    yield decode(Buffer.concat([...rest, piece.subarray(0, cut)]))
    rest = [Uint8Array.from(piece.subarray(cut + 1))]
  }
  const last = Buffer.concat(rest)
  if (last.length > 0) yield decode(last)
}

/** sha256 of the lines of a page, each with a newline after it, in hex. */
export async function hashLines(page: LogPage): Promise<string> {
  const hash = createHash('sha256')
  for await (const text of textOf(page)) hash.update(text)
  return hash.digest('hex')
}

/** The lines of a part of a log. */
export function parseLines(body: Uint8Array): readonly string[] {
  const end = body.at(-1) === COMMA ? body.length - 1 : body.length
  return JSON.parse(`[${Buffer.from(body.buffer, body.byteOffset, end).toString()}]`) as string[]
}

function decode(body: Uint8Array): string {
  const lines = parseLines(body)
  return `${lines.join('\n')}\n`
}
