import {
  CLOSE_CODES,
  END_CAUSES,
  type EndCause,
  errorBody,
  outcomeOf,
  rtviEnd,
  rtviError,
} from '@botcli/protocol'
import { expect, test } from 'vitest'
import {
  endingOfClose,
  endingOfError,
  endingOfOutcome,
  microphoneProblem,
  noAnswer,
  problemOf,
  refusedAnswer,
  reportedError,
  speakerProblem,
  strangeAnswer,
} from './problem.ts'

const causes = Object.keys(END_CAUSES) as EndCause[]

test('a forbidden origin says which address and what to do', () => {
  const error = refusedAnswer(403, errorBody('origin_not_allowed', 'no'), 'http://localhost:7860')
  expect(error.code).toBe('origin_not_allowed')
  expect(error.problem.title).toContain('http://localhost:7860')
  expect(error.problem.detail).toContain('--allowed-origins http://localhost:7860')
})

test('a refusal is told in the words of the runner, or by its status when there are none', () => {
  const said = refusedAnswer(503, errorBody('bot_not_loaded', 'bot.ts has a mistake'), 'http://x')
  expect(said.problem.title).toBe('bot.ts has a mistake')
  expect(said.code).toBe('bot_not_loaded')
  expect(refusedAnswer(502, undefined, 'http://x').problem.title).toContain('502')
  expect(refusedAnswer(422, { detail: 'FastAPI says so' }, 'http://x').problem.title).toBe('FastAPI says so')
})

test('a request without an answer tells a timeout from a dead runner', () => {
  expect(noAnswer('http://x/start', new DOMException('late', 'TimeoutError')).code).toBe('timed_out')
  const dead = noAnswer('http://x/start', new TypeError('fetch failed'))
  expect(dead.code).toBe('no_answer')
  expect(dead.problem.detail).toContain('http://x/start')
})

test('an answer that lacks something says what', () => {
  expect(strangeAnswer('/start', 'sessionId').problem.detail).toContain('sessionId')
})

test('an RTVI error is read where old and new senders put its text', () => {
  expect(reportedError({ error: 'a', fatal: false })).toMatchObject({ tone: 'warning', title: 'a' })
  expect(reportedError({ message: 'b', fatal: true })).toMatchObject({ tone: 'error', title: 'b' })
  expect(reportedError(rtviError('c', true).data).title).toBe('c')
  expect(reportedError('nonsense').tone).toBe('warning')
})

test.each(causes)('the last message of %s says whether it is a failure', (cause) => {
  const outcome = outcomeOf(cause, 'Because.')
  const ending = endingOfError(rtviEnd(outcome).data)
  expect(ending).toMatchObject({ failed: outcome.result === 'failed', problem: { title: 'Because.' } })
})

test('an error that is not the last word is no ending, and one of somebody else is a failure', () => {
  expect(endingOfError(rtviError('a', false).data)).toBeUndefined()
  expect(endingOfError(rtviError('b', true).data)).toMatchObject({ failed: true })
})

test.each(causes)('the close code and the outcome of %s agree on whether it is a failure', (cause) => {
  const closed = endingOfClose(CLOSE_CODES[cause], 'because')
  const recorded = endingOfOutcome(outcomeOf(cause, 'Because.'))
  expect(closed.failed).toBe(END_CAUSES[cause] === 'failed')
  expect(recorded.failed).toBe(END_CAUSES[cause] === 'failed')
  expect(closed.problem?.detail).toContain('because')
  expect(recorded.problem?.detail).toBe('Because.')
  expect(recorded.problem?.tone).toBe(recorded.failed ? 'error' : 'info')
})

test('a close that nobody explained still gets words', () => {
  expect(endingOfClose(1006, '')).toMatchObject({ failed: true })
  expect(endingOfClose(1006, '').problem?.detail).not.toBe('')
  expect(endingOfClose(1000, '').problem?.detail).toBe('')
  expect(endingOfClose(4999, '').problem?.detail).toContain('4999')
})

test('an outcome does not say the same sentence twice', () => {
  expect(endingOfOutcome(outcomeOf('bot_failed', 'The bot failed.')).problem?.detail).toBe('')
})

test.each([
  ['NotAllowedError', /Allow it/],
  ['NotFoundError', /Plug one in/],
  ['NotReadableError', /another program/],
  ['OverconstrainedError', /Choose another/],
  ['InsecureContextError', /https/],
  ['AbortError', /odd thing/],
])('a microphone that fails with %s is explained', (name, words) => {
  const problem = microphoneProblem(new DOMException('odd thing', name))
  expect(problem.tone).toBe('warning')
  expect(problem.title).toMatch(words)
})

test('a browser that forbids sound is told from a loudspeaker that is gone', () => {
  expect(speakerProblem(new DOMException('x', 'NotAllowedError')).title).toContain('does not let')
  expect(speakerProblem(new DOMException('it left', 'NotFoundError')).detail).toBe('it left')
})

test('anything thrown has words', () => {
  expect(problemOf('text').detail).toBe('text')
  expect(problemOf(new Error('inner')).detail).toBe('inner')
  expect(problemOf(strangeAnswer('/a', 'b')).title).toContain('makes no sense')
})
