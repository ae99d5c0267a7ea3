import type { SessionRecord } from '@botcli/protocol/cloud'
import { COLOURS, type Paint } from '../paint.ts'
import { facts, shownSeconds, shownTime } from '../remote/table.ts'

/** The state of a session with its colour. */
export function shownSessionState({ state, outcome }: SessionRecord, paint: Paint): string {
  if (state === 'active') return paint(COLOURS.green, state)
  if (state === 'starting') return paint(COLOURS.yellow, state)
  return outcome?.result === 'failed' ? paint(COLOURS.red, 'failed') : state
}

/** Everything about a session. */
export function sessionLines(session: SessionRecord, paint: Paint): readonly string[] {
  const { outcome } = session
  const start = session.coldStart ? 'an instance was started for it' : 'an instance was ready'
  return facts([
    ['id', session.sessionId],
    ['agent', session.agentName],
    ['state', shownSessionState(session, paint)],
    ['transport', session.transport],
    ['deployment', session.deploymentId],
    ['instance', session.instanceId],
    ['created', shownTime(session.createdAt)],
    [
      'start took',
      session.botStartSeconds === null ? null : `${briefly(session.botStartSeconds)} (${start})`,
    ],
    ['connected', session.connectedAt && shownTime(session.connectedAt)],
    ['ended', session.endedAt && shownTime(session.endedAt)],
    ['duration', session.durationSeconds === null ? null : shownSeconds(session.durationSeconds)],
    ['cause', outcome && causeOf(session, paint)],
    ['why', outcome?.message],
  ])
}

/** What became of a session, in a line. */
export function outcomeLine(session: SessionRecord, paint: Paint): string {
  const { sessionId, state, outcome, durationSeconds } = session
  if (outcome === null) return `Session ${sessionId} is ${state}.`
  const time = durationSeconds === null ? '' : ` after ${shownSeconds(durationSeconds)}`
  const colour = outcome.result === 'ok' ? COLOURS.green : COLOURS.red
  const word = outcome.result === 'ok' ? 'ended' : 'failed'
  return `${paint(colour, `Session ${sessionId} ${word}${time} [${outcome.cause}].`)} ${outcome.message}`
}

/** Most starts take less than a second. */
function briefly(seconds: number): string {
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : shownSeconds(seconds)
}

function causeOf({ outcome }: SessionRecord, paint: Paint): string | null {
  if (outcome === null) return null
  return paint(outcome.result === 'ok' ? COLOURS.green : COLOURS.red, outcome.cause)
}
