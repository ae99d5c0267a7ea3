import type { SessionOutcome } from '@botcli/protocol'
import { shapeOf, textAt } from './shape.ts'

/** Something that people should read: what happened, why, and what to do about it. */
export interface Problem {
  readonly tone: 'error' | 'warning' | 'info'
  readonly title: string
  readonly detail: string
}

/** A failure on the way to or during a conversation. */
export class TalkError extends Error {
  readonly code: string
  readonly problem: Problem

  constructor(code: string, problem: Problem) {
    super(`${problem.title} ${problem.detail}`.trim())
    this.name = 'TalkError'
    this.code = code
    this.problem = problem
  }
}

/** The problem that any thrown thing stands for. */
export function problemOf(error: unknown): Problem {
  if (error instanceof TalkError) return error.problem
  const detail = error instanceof Error ? error.message : String(error)
  return { tone: 'error', title: 'Something went wrong in this page.', detail }
}

/** Words for an HTTP answer that is not a success. */
export function refusedAnswer(status: number, body: unknown, pageOrigin: string): TalkError {
  const shape = shapeOf(body)
  const code = textAt(shape, 'code') ?? `http_${status}`
  if (code === 'origin_not_allowed') {
    return new TalkError(code, {
      tone: 'error',
      title: `This page’s address ${pageOrigin} is not among the runner’s allowed origins.`,
      detail: `Start the runner with --allowed-origins ${pageOrigin} and reload this page.`,
    })
  }
  const said = textAt(shape, 'error') ?? textAt(shape, 'info') ?? textAt(shape, 'detail')
  return new TalkError(code, {
    tone: 'error',
    title: said ?? `The runner answered with HTTP status ${status} and no explanation.`,
    detail: said ? '' : 'The runner’s own output says more.',
  })
}

/** Words for a request that got no answer at all. */
export function noAnswer(url: string, error: unknown): TalkError {
  const timedOut = error instanceof DOMException && error.name === 'TimeoutError'
  return new TalkError(timedOut ? 'timed_out' : 'no_answer', {
    tone: 'error',
    title: timedOut ? 'The runner took too long to answer.' : 'The runner does not answer.',
    detail: `Nothing came back from ${url}. Check that the runner is still running, then try again.`,
  })
}

/** Words for an answer that is a success but not what was asked for. */
export function strangeAnswer(url: string, missing: string): TalkError {
  return new TalkError('strange_answer', {
    tone: 'error',
    title: 'The runner’s answer makes no sense to this page.',
    detail: `The answer of ${url} has no ${missing}. Is this page served by the runner it talks to?`,
  })
}

/** Words for the data of an RTVI `error`: some senders put the text in `error`, others in `message`. */
export function reportedError(data: unknown): Problem {
  const shape = shapeOf(data)
  const said = textAt(shape, 'error') ?? textAt(shape, 'message')
  const fatal = shape.fatal === true
  return {
    tone: fatal ? 'error' : 'warning',
    title: said ?? 'The bot reported an error without saying which.',
    detail: fatal ? 'The conversation is over. You can connect again.' : 'The conversation goes on.',
  }
}

interface CloseWords {
  readonly failed: boolean
  readonly title: string
}

/** The code of a connection that was cut. */
const CUT = 1006

const CLOSE_WORDS: Readonly<Record<number, CloseWords>> = {
  1000: { failed: false, title: 'The conversation is over.' },
  1001: { failed: false, title: 'The other side went away.' },
  1005: { failed: false, title: 'The conversation is over.' },
  [CUT]: { failed: true, title: 'The connection was cut without a goodbye.' },
  1008: { failed: true, title: 'The runner refused this connection.' },
  1009: { failed: true, title: 'A message was larger than the runner accepts.' },
  1011: { failed: true, title: 'The bot failed.' },
  1012: { failed: false, title: 'The runner is shutting down.' },
  4000: { failed: false, title: 'The session was stopped from outside.' },
  4001: { failed: false, title: 'The session reached its time limit.' },
  4002: { failed: true, title: 'The bot gave up waiting for this page to connect.' },
}

/** How a conversation ended: whether that is a failure, and what to tell people. */
export interface Ending {
  readonly failed: boolean
  readonly problem?: Problem
  /** Only the connection is known to be gone; what happened may be found out elsewhere. */
  readonly isGuess?: boolean
}

/** The ending that a WebSocket close stands for. */
export function endingOfClose(code: number, reason: string): Ending {
  const words = CLOSE_WORDS[code] ?? { failed: true, title: 'The connection was closed.' }
  const unexplained =
    code === CUT ? 'The runner may have stopped, or the network dropped.' : `Close code ${code}.`
  const detail = reason === '' ? (words.failed ? unexplained : '') : `${reason} (close code ${code})`
  return {
    failed: words.failed,
    problem: { tone: words.failed ? 'error' : 'info', title: words.title, detail },
    isGuess: code === CUT,
  }
}

const CAUSE_WORDS: Readonly<Record<SessionOutcome['cause'], string>> = {
  bot_returned: 'The bot ended the conversation.',
  client_left: 'The conversation is over.',
  client_lost: 'The connection to this page was lost.',
  stopped: 'The session was stopped from outside.',
  shutdown: 'The runner is shutting down.',
  time_limit: 'The session reached its time limit.',
  never_connected: 'The bot gave up waiting for this page to connect.',
  bot_failed: 'The bot failed.',
  bot_exited: 'The bot’s process ended by itself.',
  bot_unresponsive: 'The bot stopped responding.',
  bot_flooded: 'The bot sent more than can be played.',
  bot_out_of_memory: 'The bot used too much memory.',
  media_failed: 'The runner’s media worker failed.',
}

/** The ending that the runner recorded for a session. */
export function endingOfOutcome(outcome: SessionOutcome): Ending {
  const failed = outcome.result === 'failed'
  const title = CAUSE_WORDS[outcome.cause] ?? 'The conversation is over.'
  const detail = outcome.message === title ? '' : outcome.message
  return { failed, problem: { tone: failed ? 'error' : 'info', title, detail } }
}

/** The ending that an RTVI `error` stands for, if it is one. A stop or a shutdown says that it is no failure. */
export function endingOfError(data: unknown): Ending | undefined {
  const shape = shapeOf(data)
  if (shape.fatal !== true) return undefined
  const failed = shapeOf(shape.outcome).result !== 'ok'
  const problem = reportedError(data)
  return {
    failed,
    problem: failed ? problem : { ...problem, tone: 'info', detail: '' },
  }
}

/** Words for a loudspeaker that could not be used. */
export function speakerProblem(error: unknown): Problem {
  const blocked = error instanceof Error && error.name === 'NotAllowedError'
  return {
    tone: 'warning',
    title: blocked ? 'The browser does not let this page play sound yet.' : 'The bot cannot be heard there.',
    detail: blocked ? 'Press any key or button on the page, then connect again.' : problemOf(error).detail,
  }
}

/** Words for a microphone that could not be opened; the conversation can still go on without it. */
export function microphoneProblem(error: unknown): Problem {
  return { tone: 'warning', title: microphoneTitle(error), detail: 'You can listen and type meanwhile.' }
}

function microphoneTitle(error: unknown): string {
  switch (error instanceof Error ? error.name : '') {
    case 'NotAllowedError':
    case 'SecurityError':
      return 'The browser does not let this page use the microphone. Allow it in the address bar, then connect again.'
    case 'NotFoundError':
      return 'No microphone was found. Plug one in and connect again.'
    case 'NotReadableError':
      return 'The microphone is there but cannot be read: another program may be using it.'
    case 'OverconstrainedError':
      return 'The chosen microphone is gone. Choose another one.'
    case 'InsecureContextError':
      return 'Browsers give a microphone only to pages opened over https or from localhost.'
    default:
      return `The microphone could not be opened: ${error instanceof Error ? error.message : String(error)}`
  }
}
