import { type Problem, problemOf, TalkError } from '../state/problem.ts'
import type { BotHost } from './bot-host.ts'

/** Words for whatever kept a conversation from beginning; a refused offer carries its answer as its cause. */
export async function connectProblem(
  error: unknown,
  host: Pick<BotHost, 'name' | 'output' | 'refusal'>,
): Promise<Problem> {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Response) return host.refusal(cause.clone())
  if (error instanceof TalkError) return error.problem
  if (error instanceof Error && error.message.includes('websocket')) {
    return {
      tone: 'error',
      title: `${host.name} did not accept the WebSocket.`,
      detail: `${host.output} says why. Often a proxy in between does not pass WebSockets on.`,
    }
  }
  return problemOf(error)
}
