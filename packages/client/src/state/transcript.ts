import { shapeOf, textAt } from './shape.ts'

/** A piece of what somebody said. */
export interface Segment {
  readonly text: string
  /** How trusted the source is; pieces of a lesser source give way to a better one. */
  readonly rank: number
  /** Identity that later messages use to update this piece. */
  readonly key?: string
  /** Where speech stands: heard in full, being said, still to be said, or not final yet. */
  readonly status: 'said' | 'saying' | 'unsaid' | 'interim'
  /** While `saying`: how many characters have been said. */
  readonly saidLength?: number
}

/** One turn of one side. */
export interface Line {
  readonly id: number
  readonly who: 'user' | 'bot'
  readonly typed: boolean
  /** Typed here, and not yet confirmed by the bot's echo. */
  readonly pending: boolean
  readonly open: boolean
  readonly at: number
  readonly segments: readonly Segment[]
}

/** The conversation in words, and what is needed to merge the next message into it. */
export interface Transcript {
  readonly lines: readonly Line[]
  readonly nextId: number
  readonly botRank: number
  readonly userSource?: string
}

/** What the merge needs of an RTVI message. */
export interface SaidMessage {
  readonly type: string
  readonly data: unknown
}

/** How many lines the page remembers. */
export const LINES_KEPT = 200

/** How far back an update may reach. */
const REACH = 6

const RANK = { llmToken: 1, ttsWord: 2, transcription: 3, outputWord: 4, output: 5 } as const

/** A conversation in which nobody has said anything. */
export const EMPTY_TRANSCRIPT: Transcript = { lines: [], nextId: 1, botRank: 0 }

/** Merges one RTVI message; messages that say nothing leave the transcript as it is. */
export function withMessage(transcript: Transcript, message: SaidMessage, at: number): Transcript {
  const data = shapeOf(message.data)
  switch (message.type) {
    case 'user-transcription':
      return withUserSpeech(transcript, message, at)
    case 'user-input':
      return data.input_type === 'chat'
        ? withEcho(transcript, textAt(data, 'text'), at)
        : withUserSpeech(transcript, message, at)
    case 'bot-output':
      return withBotText(transcript, outputSegment(message.data), at)
    case 'bot-transcription':
      return withBotText(transcript, plainSegment(message.data, RANK.transcription), at)
    case 'bot-tts-text':
      return withBotText(transcript, plainSegment(message.data, RANK.ttsWord), at)
    case 'bot-llm-text':
      return withBotText(transcript, plainSegment(message.data, RANK.llmToken), at)
    case 'user-started-speaking':
    case 'bot-stopped-speaking':
    case 'bot-interrupted':
    case 'bot-llm-started':
      return { ...transcript, lines: closed(transcript.lines, 'bot') }
    default:
      return transcript
  }
}

/** Adds what was typed on this page, before the bot has confirmed it. */
export function withTyped(transcript: Transcript, text: string, at: number): Transcript {
  return withLine(transcript, {
    who: 'user',
    typed: true,
    pending: true,
    open: false,
    at,
    segments: [{ text, rank: 0, status: 'said' }],
  })
}

/** The text of a line, as one string. */
export function lineText(line: Line): string {
  return line.segments.reduce((text, segment) => text + glue(text, segment) + segment.text, '').trim()
}

/** What goes between the text so far and the next piece: tokens bring their own spaces, words do not. */
export function glue(before: string, segment: Segment): string {
  if (before === '' || segment.rank === RANK.llmToken) return ''
  return /\s$/.test(before) || /^[\s.,;:!?…)’']/.test(segment.text) ? '' : ' '
}

function withUserSpeech(transcript: Transcript, message: SaidMessage, at: number): Transcript {
  // The same speech may come as two kinds of message; the first kind seen is the one we follow.
  const userSource = transcript.userSource ?? message.type
  const data = shapeOf(message.data)
  const text = textAt(data, 'text')
  if (text === undefined || userSource !== message.type) return transcript
  const segment: Segment = { text, rank: 0, status: data.final === false ? 'interim' : 'said' }
  const before: Transcript = { ...transcript, userSource, lines: closed(transcript.lines, 'bot') }
  const index = recentIndex(before.lines, (line, last) => {
    const unfinished = line.segments.at(-1)?.status === 'interim'
    return line.who === 'user' && !line.typed && (unfinished || (last && line.open))
  })
  const line = before.lines[index]
  if (line === undefined) {
    const added = { who: 'user', typed: false, pending: false, open: true, at, segments: [segment] } as const
    return withLine(before, added)
  }
  const kept = line.segments.filter((piece) => piece.status !== 'interim')
  return { ...before, lines: before.lines.with(index, { ...line, segments: [...kept, segment] }) }
}

function withEcho(transcript: Transcript, text: string | undefined, at: number): Transcript {
  if (text === undefined) return transcript
  const index = transcript.lines.findIndex((line) => line.pending && lineText(line) === text.trim())
  const line = transcript.lines[index]
  if (line !== undefined) {
    return { ...transcript, lines: transcript.lines.with(index, { ...line, pending: false }) }
  }
  const segments: readonly Segment[] = [{ text, rank: 0, status: 'said' }]
  return withLine(transcript, { who: 'user', typed: true, pending: false, open: false, at, segments })
}

function withBotText(transcript: Transcript, segment: Segment | undefined, at: number): Transcript {
  if (segment === undefined || segment.rank < transcript.botRank) return transcript
  const updated = withUpdatedSegment(transcript, segment)
  if (updated !== undefined) return updated
  const botRank = segment.rank
  const last = transcript.lines.at(-1)
  if (last?.who !== 'bot' || !last.open) {
    const lines = closed(transcript.lines, 'user')
    const added = { who: 'bot', typed: false, pending: false, open: true, at, segments: [segment] } as const
    return withLine({ ...transcript, botRank, lines }, added)
  }
  const kept = last.segments.filter((piece) => piece.rank >= segment.rank)
  const line = { ...last, segments: [...kept, segment] }
  return { ...transcript, botRank, lines: [...transcript.lines.slice(0, -1), line] }
}

function withUpdatedSegment(transcript: Transcript, segment: Segment): Transcript | undefined {
  if (segment.key === undefined) return undefined
  const isSame = (piece: Segment) => piece.key === segment.key && piece.text === segment.text
  const index = recentIndex(transcript.lines, (line) => line.who === 'bot' && line.segments.some(isSame))
  const line = transcript.lines[index]
  if (line === undefined) return undefined
  const segments = line.segments.map((piece) => (isSame(piece) ? segment : piece))
  return { ...transcript, lines: transcript.lines.with(index, { ...line, segments }) }
}

function plainSegment(data: unknown, rank: number): Segment | undefined {
  const text = textAt(shapeOf(data), 'text')
  return text === undefined ? undefined : { text, rank, status: 'said' }
}

function outputSegment(data: unknown): Segment | undefined {
  const shape = shapeOf(data)
  const text = textAt(shape, 'text')
  if (text === undefined) return undefined
  const id = shape.segment_id
  const grain = textAt(shape, 'output_type') ?? textAt(shape, 'text_type') ?? textAt(shape, 'aggregated_by')
  return {
    text,
    rank: grain === 'word' && id === undefined ? RANK.outputWord : RANK.output,
    ...(typeof id === 'number' || typeof id === 'string' ? { key: String(id) } : {}),
    ...spokenPart(shape),
  }
}

function spokenPart(shape: Readonly<Record<string, unknown>>): Pick<Segment, 'status' | 'saidLength'> {
  if (shape.will_be_spoken === false) return { status: 'said' }
  if (shape.spoken_status === 'in-progress') {
    const saidLength = textAt(shapeOf(shape.spoken_progress), 'accumulated_text')?.length ?? 0
    return { status: 'saying', saidLength }
  }
  return { status: shape.spoken_status === 'new' && shape.will_be_spoken === true ? 'unsaid' : 'said' }
}

function closed(lines: readonly Line[], who: Line['who']): readonly Line[] {
  const last = lines.at(-1)
  return last?.who === who && last.open ? [...lines.slice(0, -1), { ...last, open: false }] : lines
}

function recentIndex(lines: readonly Line[], wanted: (line: Line, last: boolean) => boolean): number {
  const from = Math.max(0, lines.length - REACH)
  return lines.findLastIndex((line, index) => index >= from && wanted(line, index === lines.length - 1))
}

function withLine(transcript: Transcript, line: Omit<Line, 'id'>): Transcript {
  const lines = [...transcript.lines, { ...line, id: transcript.nextId }].slice(-LINES_KEPT)
  return { ...transcript, lines, nextId: transcript.nextId + 1 }
}
