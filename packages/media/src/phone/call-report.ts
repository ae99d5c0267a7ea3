import type { CallEvent, CallFacts, EndedBy } from './call-events.ts'
import type { Mischief } from './line.ts'

/** One time that the bot spoke, as the caller heard it. */
export interface BotTurn {
  /** Milliseconds since the number was dialled; a place in the recordings. */
  readonly startMs: number
  readonly ms: number
  readonly gaps: number
  readonly gapMs: number
  readonly cut: boolean
  /** Since the caller had finished, where the caller had. */
  readonly afterSaidMs?: number
}

/** How a call went. */
export interface CallReport extends CallFacts {
  readonly events: readonly CallEvent[]
  readonly answeredMs?: number
  readonly refused?: { readonly status?: number; readonly message: string }
  /** When the first sound that is no silence arrived. */
  readonly firstAudioMs?: number
  /** How much sound arrived at all, silence included. */
  readonly receivedMs: number
  readonly turns: readonly BotTurn[]
  readonly gaps: number
  readonly gapMs: number
  readonly clears: number
  readonly clearedMs: number
  readonly marksAsked: number
  readonly marksPlayed: number
  /** Each kind of violation once, and how many there were in all. */
  readonly violations: readonly string[]
  readonly violationCount: number
  readonly mischief: Mischief
  /** How many things the caller had no time to say or to press. */
  readonly unsaid: number
  readonly closed: {
    readonly at: number
    readonly by: EndedBy
    readonly code: number
    readonly reason: string
    readonly unplayedMs: number
  }
  /** What the caller said and heard since the number was dialled, at the rate of the coding. */
  readonly said: Int16Array
  readonly heard: Int16Array
}

/** What a time line alone does not tell. */
export type Counted = Pick<
  CallReport,
  'receivedMs' | 'violations' | 'violationCount' | 'mischief' | 'unsaid' | 'said' | 'heard'
>

/** Sums a call up. */
export function reportOf(facts: CallFacts, events: readonly CallEvent[], counted: Counted): CallReport {
  const all = <Type extends CallEvent['type']>(type: Type) =>
    events.filter((event): event is Extract<CallEvent, { type: Type }> => event.type === type)
  const turns = turnsOf(events)
  const [answered] = all('answered')
  const [refused] = all('refused')
  const [first] = all('first_audio')
  const [closed] = all('closed')
  return {
    ...facts,
    ...counted,
    events,
    ...(answered && { answeredMs: answered.at }),
    ...(refused && {
      refused: { message: refused.message, ...(refused.status !== undefined && { status: refused.status }) },
    }),
    ...(first && { firstAudioMs: first.at }),
    turns,
    gaps: turns.reduce((sum, { gaps }) => sum + gaps, 0),
    gapMs: turns.reduce((sum, { gapMs }) => sum + gapMs, 0),
    clears: all('cleared').length,
    clearedMs: all('cleared').reduce((sum, { droppedMs }) => sum + droppedMs, 0),
    marksAsked: all('mark_asked').length,
    marksPlayed: all('mark_played').filter(({ dropped }) => !dropped).length,
    closed: {
      at: closed?.at ?? 0,
      by: closed?.by ?? 'network',
      code: closed?.code ?? 1006,
      reason: closed?.reason ?? '',
      unplayedMs: closed?.unplayedMs ?? 0,
    },
  }
}

function turnsOf(events: readonly CallEvent[]): readonly BotTurn[] {
  const turns: BotTurn[] = []
  let started: Extract<CallEvent, { type: 'turn_started' }> | undefined
  for (const event of events) {
    if (event.type === 'turn_started') started = event
    if (event.type !== 'turn_ended' || started === undefined) continue
    const { ms, gaps, gapMs, cut } = event
    const { afterSaidMs } = started
    turns.push({
      startMs: started.at,
      ms,
      gaps,
      gapMs,
      cut,
      ...(afterSaidMs !== undefined && { afterSaidMs }),
    })
  }
  return turns
}
