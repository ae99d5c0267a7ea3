import type { Answer, CallEvent, CallReport } from '@botcli/media/phone'
import { TRANSPORTS } from '@botcli/protocol'
import { COLOURS, type Paint } from '../paint.ts'

type Lane = 'line' | 'caller' | 'bot' | 'fault'

const LANES: Readonly<Record<Lane, { readonly label: string; readonly colour: number }>> = {
  line: { label: '·       ', colour: COLOURS.dim },
  caller: { label: '> caller', colour: COLOURS.green },
  bot: { label: '< bot   ', colour: COLOURS.cyan },
  fault: { label: '! fault ', colour: COLOURS.red },
}

/** One event as a line for people; some are only for programs. */
export function formatEvent(event: CallEvent, paint: Paint): string | undefined {
  const said = describe(event)
  if (said === undefined) return undefined
  const [lane, text] = said
  const { label, colour } = LANES[lane]
  const time = paint(COLOURS.dim, seconds(event.at).padStart(9))
  const shown = lane === 'line' ? paint(COLOURS.dim, text) : text
  return `${time}  ${paint(colour, label)}  ${event.type === 'gap' ? paint(COLOURS.yellow, text) : shown}\n`
}

function describe(event: CallEvent): readonly [Lane, string] | undefined {
  switch (event.type) {
    case 'dialled': {
      const { carrier, coding, from, to, url } = event
      const sound = `${coding.codec.toUpperCase()} at ${coding.rate} Hz`
      return ['line', `${from} calls ${to} at ${url} as ${carrier} (${TRANSPORTS[carrier].label}), ${sound}`]
    }
    case 'answered':
      return ['line', 'answered']
    case 'refused':
      return ['fault', `not answered: ${event.message}${event.status ? ` (HTTP ${event.status})` : ''}`]
    case 'started':
    case 'mark_asked':
    case 'mark_played':
      return undefined
    case 'first_audio':
      return ['bot', 'first sound arrives']
    case 'caller_started':
      return ['caller', `says ${event.what}, ${seconds(event.ms)}`]
    case 'caller_stopped':
      return ['caller', 'has finished']
    case 'key_pressed':
      return ['caller', `presses ${event.key}`]
    case 'turn_started':
      return ['bot', `speaks${answer(event)}`]
    case 'turn_ended':
      return ['bot', `has finished after ${seconds(event.ms)}${event.cut ? ', cut short' : ''}`]
    case 'gap':
      return ['bot', `gap of ${event.ms} ms`]
    case 'cleared':
      return ['bot', `takes back ${event.droppedMs} ms that were not played`]
    case 'keys_received':
      return ['bot', `presses ${event.keys}`]
    case 'violation':
      return ['fault', event.message]
    case 'misbehaved':
      return ['caller', `misbehaves: ${event.message}`]
    case 'hung_up':
      return ['caller', `hangs up, because ${event.why}`]
    case 'closed':
      return ['line', closing(event)]
  }
}

function answer({ afterSaidMs, whileSayingMs }: Answer): string {
  if (afterSaidMs !== undefined) return `, ${seconds(afterSaidMs)} after the caller`
  return whileSayingMs === undefined ? '' : `, ${seconds(whileSayingMs)} after the caller began`
}

function closing({ by, code, reason }: Pick<CallReport['closed'], 'by' | 'code' | 'reason'>): string {
  if (by === 'caller') return 'the call is over'
  if (by === 'network') return 'the connection is gone'
  return `the runner closed the call, code ${code}${reason === '' ? '' : `: ${reason}`}`
}

/** What a call came to, for people. */
export function formatSummary(report: CallReport, faults: readonly string[], paint: Paint): string {
  const row = (title: string, text: string, isGood = true) =>
    `  ${paint(COLOURS.dim, title.padEnd(13))}${isGood ? text : paint(COLOURS.yellow, text)}\n`
  const { answeredMs, firstAudioMs, turns, gaps, gapMs, clears, clearedMs, violationCount, closed } = report
  const mischief = Object.entries(report.mischief).filter(([, count]) => count > 0)
  const answers = turns.flatMap(({ afterSaidMs }) => (afterSaidMs === undefined ? [] : [afterSaidMs]))
  const lines = [
    '\n',
    row(
      'Answered',
      answeredMs === undefined ? 'no' : `after ${seconds(answeredMs)}`,
      answeredMs !== undefined,
    ),
  ]
  if (answeredMs !== undefined) {
    const spoken = turns.reduce((sum, { ms }) => sum + ms, 0)
    lines.push(
      row(
        'First sound',
        firstAudioMs === undefined ? 'none' : `after ${seconds(firstAudioMs)}`,
        turns.length > 0,
      ),
      row(
        'Bot turns',
        turns.length === 0 ? 'none' : `${turns.length}, ${seconds(spoken)} in all`,
        turns.length > 0,
      ),
    )
    if (answers.length > 0) lines.push(row('Answer times', answers.map(seconds).join(', ')))
    lines.push(row('Gaps', gaps === 0 ? 'none' : `${gaps}, ${Math.round(gapMs)} ms in all`, gaps === 0))
    if (clears > 0) lines.push(row('Clears', `${clears}, ${clearedMs} ms taken back`))
    if (report.marksAsked > 0)
      lines.push(row('Marks', `${report.marksPlayed} of ${report.marksAsked} played`))
    if (mischief.length > 0)
      lines.push(row('Misbehaved', mischief.map(([name, count]) => `${count} ${name}`).join(', ')))
    lines.push(
      row('Protocol', violationCount === 0 ? 'kept' : `broken ${violationCount} times`, violationCount === 0),
      row('Hung up', by(closed)),
    )
  }
  const result =
    faults.length === 0 ? paint(COLOURS.green, 'The bot was heard.') : paint(COLOURS.red, 'Failed.')
  return `${lines.join('')}  ${paint(COLOURS.dim, 'Result'.padEnd(13))}${result}\n`
}

function by({ by: who, code, unplayedMs }: CallReport['closed']): string {
  const lost = unplayedMs > 0 && who !== 'caller' ? `, with ${unplayedMs} ms not yet played` : ''
  if (who === 'caller') return 'by the caller'
  return who === 'runner' ? `by the runner, code ${code}${lost}` : `by a broken connection${lost}`
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
