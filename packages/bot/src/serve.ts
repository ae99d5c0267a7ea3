import type { RunnerArguments } from './arguments.ts'
import { BotError } from './errors.ts'
import { type RequestHandler, sessionOf } from './session-port.ts'

/**
 * Answers HTTP requests to this session: what comes to `/sessions/{sessionId}/{path}` of the runner, and to
 * `/v1/public/{agentName}/sessions/{sessionId}/{path}` of a cloud. Works with every transport, and without one.
 * The address of a request is `http://session/{path}`; bodies have 512 KiB at most, both ways.
 *
 * @example
 * serve(args, async (request) => Response.json({ got: await request.json() }))
 */
export function serve(args: RunnerArguments, handler: RequestHandler): void {
  const port = sessionOf(args)
  if (port === undefined) {
    throw new BotError(
      'unknown_session',
      'serve() does not know these arguments; hand it the very object that bot(args) was called with, not a copy',
    )
  }
  if (port.endReason !== undefined) {
    throw new BotError(
      'session_ended',
      `nothing can be served, the session is over: ${port.endReason.message}`,
    )
  }
  port.serve(handler)
}
