import { type Problem, TalkError } from '../state/problem.ts'
import { shapeOf, textAt } from '../state/shape.ts'

/** What the cloud's codes mean for somebody who wants to talk. */
const TITLES: Readonly<Record<string, string>> = {
  'DEPLOY-AT-CAPACITY': 'All places are taken.',
  'DEPLOY-NOT-READY': 'This agent takes no conversations now.',
  'DEPLOY-START-FAILED': 'The bot could not be started.',
  'DEPLOY-SESSION-FAILED': 'The bot could not begin the conversation.',
  RATE_LIMITED: 'That was too much at once.',
  UNAVAILABLE: 'The cloud is starting or stopping.',
}

/** Words for an answer of the cloud that is not a success. */
export async function cloudRefusal(answer: Response, agent: string): Promise<TalkError> {
  const body = shapeOf(await answer.json().catch(() => undefined))
  const code = textAt(body, 'code') ?? `HTTP_${answer.status}`
  const said = textAt(body, 'error') ?? `The cloud answered with HTTP status ${answer.status}.`
  return new TalkError(code, problemOfCode(code, said, agent, retryWords(answer)))
}

function problemOfCode(code: string, said: string, agent: string, retry: string): Problem {
  if (code === 'NOT_FOUND') {
    const detail = 'It may have been deleted, or the name in the address is wrong.'
    return { tone: 'error', title: `There is no agent ${agent}.`, detail }
  }
  if (code === 'DEPLOY-NOT-READY' && retry === '') {
    // The cloud's own words name a command, which is for those who run the agent.
    const detail = 'It could not be started. Whoever runs it can see why on its page of the cloud.'
    return { tone: 'error', title: TITLES[code] ?? said, detail }
  }
  const title = TITLES[code]
  if (title === undefined) return { tone: 'error', title: said, detail: retry }
  return { tone: 'error', title, detail: [said, retry].filter((words) => words !== '').join(' ') }
}

function retryWords(answer: Response): string {
  const seconds = Number(answer.headers.get('retry-after'))
  if (!(seconds > 0)) return ''
  return `Try again in ${seconds === 1 ? 'a second' : `${Math.ceil(seconds)} seconds`}.`
}

/** Words for a request that the cloud did not answer. */
export function cloudSilence(error: unknown): TalkError {
  const late = error instanceof DOMException && error.name === 'TimeoutError'
  return new TalkError(late ? 'timed_out' : 'no_answer', {
    tone: 'error',
    title: late ? 'The cloud took too long to answer.' : 'The cloud does not answer.',
    detail: 'Check that it is still running and that you are connected, then try again.',
  })
}

/** Words for an answer that is a success but not what was asked for. */
export function cloudStrangeAnswer(missing: string): TalkError {
  return new TalkError('strange_answer', {
    tone: 'error',
    title: 'The cloud’s answer makes no sense to this page.',
    detail: `It has no ${missing}. Reload this page: the cloud may have been upgraded.`,
  })
}
