import type { IncomingMessage } from 'node:http'
import { type BotRequest, type BotResponse, botRequestSchema, MAX_BOT_BODY_BYTES } from '@botcli/protocol'
import type { Context, Hono } from 'hono'
import type { StatusCode } from 'hono/utils/http-status'
import { RequestError } from '../request-error.ts'
import type { SessionTable } from '../sessions/session-table.ts'
import { readBytes } from './request-bytes.ts'
import type { RunnerEnv } from './runner-env.ts'

/** They speak of one connection, or let somebody in; both is none of a bot's business. */
const NOT_PASSED_ON =
  /^(?:authorization|connection|content-length|cookie|expect|host|http2-settings|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/
/** A bot speaks for its session, not for everything that is served here: cookies, other origins, the whole site. */
const NOT_GIVEN_BACK =
  /^(?:access-control-.*|clear-site-data|connection|content-length|keep-alive|proxy-.*|set-cookie|strict-transport-security|te|trailer|transfer-encoding|upgrade)$/
const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Nobody may ask for these by `fetch`, in whose terms bots in TypeScript are asked. */
const NOT_ASKED: ReadonlySet<string> = new Set(['TRACE', 'TRACK'])

/** Adds the routes that the bots themselves serve: everything below a session that is not a route of ours. */
export function addBotRequests(app: Hono<RunnerEnv>, table: SessionTable): void {
  app.all('/sessions/:sessionId/*', async (c) => {
    if (NOT_ASKED.has(c.req.method)) {
      throw new RequestError('method_not_allowed', `Bots are not asked with ${c.req.method}.`)
    }
    const session = table.live(c.req.param('sessionId'))
    if (session.host === undefined) {
      throw new RequestError('bot_not_started', 'The bot of this session starts when its caller connects.')
    }
    const request = await botRequestOf(c)
    // The caller may have gone while the body came.
    const host = table.live(session.id).host
    if (host === undefined) throw new RequestError('session_not_found', 'The session is ending.')
    return answer(c, await host.request(session.id, request))
  })
}

async function botRequestOf(c: Context<RunnerEnv>): Promise<BotRequest> {
  const { pathname, search } = new URL(c.req.url)
  const body = await readBytes(c.env.incoming, MAX_BOT_BODY_BYTES)
  const parsed = botRequestSchema.safeParse({
    method: c.req.method,
    path: pathname.replace(/^\/sessions\/[^/]+/, ''),
    query: search,
    headers: headersOf(c.env.incoming),
    body: body.toString('base64'),
  })
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
  throw new RequestError('invalid_request', `The request cannot be passed on: ${problems.join('; ')}.`)
}

/** With small names, each as often as it came, but for those that the sender has declared to be of this connection only. */
function headersOf({ rawHeaders, headers }: IncomingMessage): (readonly [string, string])[] {
  const ofConnection = new Set(headers.connection?.toLowerCase().split(/[\s,]+/))
  return Array.from(
    { length: rawHeaders.length / 2 },
    (_, index) => [rawHeaders[2 * index]?.toLowerCase() ?? '', rawHeaders[2 * index + 1] ?? ''] as const,
  ).filter(([name]) => !NOT_PASSED_ON.test(name) && !ofConnection.has(name))
}

function answer(c: Context<RunnerEnv>, { status, headers, body }: BotResponse): Response {
  for (const [name, value] of headers) {
    if (!NOT_GIVEN_BACK.test(name.toLowerCase())) c.header(name, value, { append: true })
  }
  // Whoever may see the answer may see its headers, which are the bot's own.
  c.header('Access-Control-Expose-Headers', '*')
  c.status(status as StatusCode)
  return WITHOUT_BODY.has(status) ? c.body(null) : c.body(Buffer.from(body, 'base64'))
}
