import type { IncomingMessage, ServerResponse } from 'node:http'
import type { HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode, StatusCode } from 'hono/utils/http-status'
import * as z from 'zod'
import { CloudError } from '../errors.ts'
import type { CloudLog } from '../log.ts'
import { checkBody, checkParam, QueryCheck } from './checks.ts'
import type { Dashboard } from './dashboard.ts'
import { errorAnswerOf } from './error-answer.ts'
import { familyOf, type Gate } from './gate.ts'
import { openApiOf } from './openapi.ts'
import { readJson } from './request-body.ts'
import { mayBeEmpty, type Route } from './route.ts'

/** What handlers find beside a request. */
export interface AppEnv {
  readonly Bindings: HttpBindings & { readonly requestId: string }
  readonly Variables: { organizationId: string }
}

/** The routes, ready to be served. */
export type App = Hono<AppEnv>

/** Writes an answer as bytes. It gets the parts of the path, and rejects while nothing was sent. */
export type Door = (
  params: Readonly<Record<string, string>>,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
) => Promise<void>

/** What the routes work with. */
export interface AppOptions {
  readonly routes: readonly Route[]
  readonly gate: Gate
  /**
   * For routes without a handler, by operation: what is asked in an unusual spelling comes here instead of past the routes. One that is not
   * here is served past the routes only.
   */
  readonly doors: ReadonlyMap<string, Door>
  readonly dashboard: Dashboard | undefined
  readonly version: string
  /** Rejects when the cloud cannot work. */
  readonly check: () => Promise<void>
  readonly log: CloudLog
}

const OPENAPI = '/v1/openapi.json'
const NO_QUERY = z.strictObject({})

/** Everything that is served but logs. */
export function createApp(options: AppOptions): App {
  const { gate, doors, log, dashboard } = options
  const app: App = new Hono<AppEnv>()
  const document = JSON.stringify(openApiOf(options.routes))
  const routes = options.routes.filter(({ handle, operationId }) => handle || doors.has(operationId))

  app.get('/healthz', async (c) => {
    await options.check()
    return c.json({ status: 'ok', version: options.version })
  })
  app.get(OPENAPI, (c) => c.body(document, 200, { 'Content-Type': 'application/json' }))
  for (const route of routes.filter(({ auth }) => auth === 'upload' || auth === 'none'))
    add(app, route, options)

  // Whoever has no key learns nothing, not even which routes there are.
  app.use('/v1/*', async (c, next) => {
    const { organizationId } = await gate.enter(c.req.header('authorization'), familyOf(c.req.path))
    c.set('organizationId', organizationId)
    return next()
  })
  for (const route of routes.filter(({ auth }) => auth === 'private' || auth === 'public'))
    add(app, route, options)

  const known = [...routes, { path: '/healthz', method: 'GET' }, { path: OPENAPI, method: 'GET' }]
  for (const path of new Set(known.map((route) => route.path))) {
    const methods = known.filter((route) => route.path === path).map(({ method }) => method)
    refuseOthers(app, path, methods)
  }
  if (dashboard) {
    app.get('*', async (c, next) => {
      const file = dashboard.file(c.req.path)
      return file ? c.body(file.bytes, 200, { ...file.headers }) : next()
    })
    refuseOthers(app, '/{$}', ['GET'])
  }
  app.notFound((c) => sendError(c, new CloudError('NOT_FOUND', nothingAt(c.req.path, dashboard)), log))
  app.onError((error, c) => sendError(c, error, log))
  return app
}

function add(app: App, route: Route, { doors }: AppOptions): void {
  const query = new QueryCheck(route.query ?? NO_QUERY)
  const reading = { maxBytes: route.maxBodyBytes, mayBeEmpty: mayBeEmpty(route) }
  app.on(route.method, honoPath(route.path), async (c) => {
    const { incoming, outgoing } = c.env
    const { handle } = route
    if (!handle) {
      await doors.get(route.operationId)?.(c.req.param(), incoming, outgoing)
      return RESPONSE_ALREADY_SENT
    }
    const params = Object.fromEntries(
      Object.entries(route.params).map(([name, schema]) => [
        name,
        checkParam(name, schema, c.req.param(name) ?? ''),
      ]),
    )
    const answer = await handle({
      organizationId: c.get('organizationId') ?? '',
      params,
      query: query.check(new URL(c.req.url).searchParams),
      body: route.body && checkBody(route.body, await readJson(incoming, reading)),
      incoming,
    })
    c.header('Cache-Control', 'no-store')
    if (answer.body === undefined) return c.body(null, answer.status as StatusCode)
    return c.json(answer.body, answer.status as ContentfulStatusCode)
  })
}

function refuseOthers(app: App, path: string, methods: readonly string[]): void {
  const allowed = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
  app.all(honoPath(path), (c) => {
    c.header('Allow', allowed)
    throw new CloudError('METHOD_NOT_ALLOWED', `${c.req.path} knows ${allowed}, not ${c.req.method}.`)
  })
}

function honoPath(path: string): string {
  return path.replace('{$}', '').replace(/\{(\w+)\}/g, ':$1')
}

function sendError(c: Context<AppEnv>, error: unknown, log: CloudLog): Response {
  const { status, headers, body } = errorAnswerOf(error, log, c.env.requestId)
  const { incoming } = c.env
  const hasBody = 'transfer-encoding' in incoming.headers || incoming.headers['content-length'] !== undefined
  // What was not read of a body would stand before the next request of the connection.
  if (hasBody && !incoming.complete) c.header('Connection', 'close')
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  return c.json(body, status as ContentfulStatusCode)
}

function nothingAt(path: string, dashboard: Dashboard | undefined): string {
  const shown = path.length > 200 ? `${path.slice(0, 200)}…` : path
  const hint = path === '/' && !dashboard ? ' The dashboard was not built. Run: npm run build' : ''
  return `There is nothing at ${shown}.${hint}`
}
