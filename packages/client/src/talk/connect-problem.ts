import { type Problem, problemOf, refusedAnswer, TalkError } from '../state/problem.ts'

/** Words for whatever kept a conversation from beginning; a refused offer carries the runner's answer as its cause. */
export async function connectProblem(error: unknown, pageOrigin: string): Promise<Problem> {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Response) {
    const body: unknown = await cause
      .clone()
      .json()
      .catch(() => undefined)
    return refusedAnswer(cause.status, body, pageOrigin).problem
  }
  if (error instanceof TalkError) return error.problem
  if (error instanceof Error && error.message.includes('websocket')) {
    return {
      tone: 'error',
      title: 'The runner did not accept the WebSocket.',
      detail: 'Its output says why. Often a proxy in between does not pass WebSockets on.',
    }
  }
  return problemOf(error)
}
