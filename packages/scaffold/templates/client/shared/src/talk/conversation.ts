import type { BotOutputData, TranscriptData } from '@pipecat-ai/client-js'

/** Something that was said or typed. */
export interface Line {
  readonly id: number
  readonly who: 'user' | 'bot'
  readonly pieces: readonly Piece[]
  /** Nothing is added to a line that is closed. */
  readonly closed: boolean
}

/** A part of a line, as it arrives. */
export interface Piece {
  readonly text: string
  /** The bot's number for it: news about the same piece have the same. */
  readonly segment?: number
  /** Speech that may still be understood differently. */
  readonly interim: boolean
}

/** What happens in a conversation. */
export type Said =
  | { readonly kind: 'began' }
  | { readonly kind: 'typed'; readonly text: string }
  | { readonly kind: 'heard'; readonly transcript: TranscriptData }
  | { readonly kind: 'output'; readonly output: BotOutputData }
  | { readonly kind: 'turn' }

const LINES_KEPT = 200

/** The conversation after one more thing was said. Lines stay in the order in which they began. */
export function withSaid(lines: readonly Line[], said: Said): readonly Line[] {
  switch (said.kind) {
    case 'began':
      return []
    case 'typed':
      return withLine(lines, 'user', { text: said.text, interim: false }, true)
    case 'heard':
      return withHeard(lines, said.transcript)
    case 'output':
      return withOutput(lines, said.output)
    case 'turn':
      return closeLast(lines)
  }
}

/** The text of a line. */
export function lineText(line: Line): string {
  return line.pieces.map(({ text }) => text.trim()).join(' ')
}

function withHeard(lines: readonly Line[], { text, final }: TranscriptData): readonly Line[] {
  if (text.trim() === '') return lines
  const last = lines.at(-1)
  const piece: Piece = { text, interim: !final }
  if (last?.who !== 'user' || last.closed) return withLine(lines, 'user', piece, false)
  const settled = last.pieces.filter(({ interim }) => !interim)
  return [...lines.slice(0, -1), { ...last, pieces: [...settled, piece] }]
}

function withOutput(lines: readonly Line[], { text, segment_id: segment }: BotOutputData): readonly Line[] {
  // The bot also tells how far it has spoken a piece that it announced before.
  const known = (line: Line) => line.pieces.some((piece) => piece.segment === segment)
  if (text.trim() === '' || (segment !== undefined && lines.some(known))) return lines
  const piece: Piece = { text, interim: false, ...(segment === undefined ? {} : { segment }) }
  const last = lines.at(-1)
  if (last?.who !== 'bot' || last.closed) return withLine(lines, 'bot', piece, false)
  return [...lines.slice(0, -1), { ...last, pieces: [...last.pieces, piece] }]
}

function withLine(lines: readonly Line[], who: Line['who'], piece: Piece, closed: boolean): readonly Line[] {
  const id = (lines.at(-1)?.id ?? 0) + 1
  return [...closeLast(lines), { id, who, pieces: [piece], closed }].slice(-LINES_KEPT)
}

function closeLast(lines: readonly Line[]): readonly Line[] {
  const last = lines.at(-1)
  return last === undefined || last.closed ? lines : [...lines.slice(0, -1), { ...last, closed: true }]
}
