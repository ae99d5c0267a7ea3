import { type CallReport, MISBEHAVIOURS, type Misbehaviour, type Misbehaviours } from '@botcli/media/phone'

/** Ends that are nobody's fault: the bot was done, somebody stopped it, its time was up. */
const GOOD_CODES = [1000, 1005, 4000, 4001]
/** Those of them with which somebody else than the bot ends a call. */
const ENDED_CODES = [4000, 4001]
const REFUSED_CODE = 1008

/** Why a call was no success, in sentences; nothing when it was one. */
export function faultsOf(report: CallReport, misbehaviours: Misbehaviours): readonly string[] {
  const { answeredMs, refused, closed, turns, receivedMs, unsaid, violations, violationCount } = report
  if (answeredMs === undefined) return [notAnswered(refused, report.url)]
  const faults: string[] = []
  if (closed.by !== 'caller' && !breaksCall(misbehaviours)) {
    const reason = closed.reason === '' ? 'without a reason' : `with the words: ${closed.reason}`
    if (closed.code === REFUSED_CODE) faults.push(`The runner refused the call ${reason}`)
    else if (closed.by === 'network') faults.push('The connection broke during the call.')
    else if (!GOOD_CODES.includes(closed.code))
      faults.push(`The runner ended the call (code ${closed.code}) ${reason}`)
  }
  // Who was turned away or lost could not hear anything; that needs no words of its own.
  if (turns.length === 0 && faults.length === 0) {
    if (closed.by === 'runner' && ENDED_CODES.includes(closed.code)) {
      faults.push(`The call was ended before the bot was heard${closed.reason && `: ${closed.reason}`}`)
    } else faults.push(receivedMs > 0 ? 'The bot sent nothing but silence.' : 'The bot was not heard.')
  }
  if (unsaid > 0) {
    const what = unsaid === 1 ? 'one thing' : `${unsaid} things`
    faults.push(`The time was up before the caller had said or pressed ${what}; raise --for.`)
  }
  if (violationCount > 0) {
    const times = violationCount === 1 ? 'once' : `${violationCount} times`
    faults.push(`The runner broke the carrier's protocol ${times}: ${violations.join('; ')}.`)
  }
  return faults
}

function notAnswered(refused: CallReport['refused'], url: string): string {
  if (refused === undefined) return 'The call was given up before it was answered.'
  const { status, message } = refused
  if (status !== undefined) return `The runner refused the call (HTTP ${status}): ${message}`
  const hint = message.includes('ECONNREFUSED') ? ' Is a runner there? Start one with: botcli run' : ''
  return `Nobody answered at ${url} (${message}).${hint}`
}

function breaksCall(misbehaviours: Misbehaviours): boolean {
  return Object.entries(MISBEHAVIOURS).some(
    ([name, row]: [string, Misbehaviour]) => row.breaksCall && name in misbehaviours,
  )
}
