import { type InstanceInfo, SESSION_ID_HEADER, sessionIdSchema } from '@botcli/protocol'
import type { Context, Hono } from 'hono'
import type { InstanceWatch } from '../instance/instance-watch.ts'
import { RequestError } from '../request-error.ts'
import type { SessionTable } from '../sessions/session-table.ts'
import type { RunnerEnv } from './runner-env.ts'

/** An instance of the cloud, as far as its routes know it. */
export interface ServedInstance {
  readonly id: string
  readonly watch: InstanceWatch
}

/** Adds the routes by which the cloud looks after an instance. Gives the methods that each path knows. */
export function addInstanceRoutes(
  app: Hono<RunnerEnv>,
  { id, watch }: ServedInstance,
  table: SessionTable,
): Readonly<Record<string, string>> {
  app.get('/instance', (c) =>
    c.json<InstanceInfo>({ instanceId: id, pid: process.pid, sessions: table.liveViews() }),
  )
  app.get('/instance/events', (c) => {
    c.header('Content-Type', 'application/x-ndjson')
    c.header('Cache-Control', 'no-store')
    // Who asks for the headers alone does not watch.
    if (c.req.method !== 'GET') return c.body(null)
    return c.body(watch.open())
  })
  return { '/instance': 'GET', '/instance/events': 'GET' }
}

/** The id that the cloud gives to a new session, if it gives one. */
export function givenSessionId(c: Context<RunnerEnv>): string | undefined {
  const given = c.req.header(SESSION_ID_HEADER)
  if (given === undefined) return undefined
  const parsed = sessionIdSchema.safeParse(given)
  if (parsed.success) return parsed.data
  throw new RequestError('invalid_request', `The header ${SESSION_ID_HEADER} must be a UUID.`)
}
