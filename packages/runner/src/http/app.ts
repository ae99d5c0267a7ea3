import type { IncomingMessage } from 'node:http'
import {
  candidatesRequestSchema,
  DEFAULT_STUN_URL,
  offerRequestSchema,
  type StatusResponse,
  startRequestSchema,
  TRANSPORTS,
  type TransportId,
} from '@botcli/protocol'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { RunnerConfig } from '../config.ts'
import type { GuestPool } from '../guests/guest-pool.ts'
import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'
import type { Connector } from '../sessions/connector.ts'
import type { SessionTable } from '../sessions/session-table.ts'
import type { SessionTokens } from '../sessions/session-tokens.ts'
import { requestErrorOf } from './errors.ts'
import { readJson } from './json-body.ts'
import type { OriginPolicy } from './origin-policy.ts'
import type { Page, PageFile } from './page.ts'
import { publicOrigin, type ReachedBy, websocketUrl } from './public-url.ts'

interface Env {
  Bindings: { incoming: IncomingMessage }
}

/** The routes, ready to be served. */
export type App = Hono<Env>

/** What the routes work with. */
export interface AppOptions {
  readonly config: RunnerConfig
  readonly transports: readonly TransportId[]
  readonly origins: OriginPolicy
  readonly table: SessionTable
  readonly tokens: SessionTokens
  readonly connector: Connector
  readonly guests: GuestPool
  readonly page: Page | undefined
  readonly logger: Logger
  /** Where the server listens, once it does. */
  readonly address: () => string
}

/** Every route, with the methods that it knows. What is not here is 404, another method is 405. */
const ROUTES: Readonly<Record<string, string>> = {
  '/': 'GET',
  '/client': 'GET',
  '/client/*': 'GET',
  '/daily': 'GET',
  '/status': 'GET',
  '/start': 'POST',
  '/api/offer': 'POST, PATCH',
  '/sessions': 'GET',
  '/sessions/:sessionId': 'GET, DELETE',
  '/sessions/:sessionId/api/offer': 'POST, PATCH',
  '/ws': 'GET',
  '/ws-client': 'GET',
}

/** The HTTP half of the server. */
export function createApp(options: AppOptions): App {
  const { origins, table, connector, transports, logger } = options
  const app = new Hono<Env>()
  const body = <T>(c: Context<Env>, schema: Parameters<typeof readJson<T>>[2]) =>
    readJson(c.env.incoming, c.req.path, schema, logger)

  app.use('*', async (c, next) => {
    const origin = c.req.header('origin')
    for (const [name, value] of Object.entries(origins.headers(origin))) c.header(name, value)
    c.header('Access-Control-Expose-Headers', 'Retry-After')
    origins.check({
      method: c.req.method,
      path: c.req.path,
      origin,
      fetchMode: c.req.header('sec-fetch-mode'),
      fetchSite: c.req.header('sec-fetch-site'),
    })
    if (c.req.method === 'OPTIONS') return preflight(c)
    return next()
  })

  app.get('/', (c) => c.redirect('/client/', 307))
  app.get('/client', (c) => sendDocument(c, options, 'client/'))
  app.get('/client/', (c) => sendDocument(c, options, undefined))
  app.get('/client/*', (c) => {
    const file = options.page?.file(c.req.path.slice('/client/'.length))
    if (file === undefined) throw new RequestError('not_found', `The page has no file ${c.req.path}.`)
    return sendFile(c, file)
  })
  app.get('/daily', () => {
    throw new RequestError('not_available', 'This version of the runner cannot make rooms.')
  })
  app.get('/status', (c) => c.json<StatusResponse>({ status: 'ready', transports }))
  app.post('/start', async (c) => {
    const request = await body(c, startRequestSchema)
    await options.guests.check()
    return c.json(start(c, options, request))
  })

  for (const path of ['/api/offer', '/sessions/:sessionId/api/offer']) {
    app.post(path, async (c) => {
      requireTransport('webrtc', transports)
      const request = await body(c, offerRequestSchema)
      return c.json(await connector.offer(c.req.param('sessionId'), request))
    })
    app.patch(path, async (c) => {
      requireTransport('webrtc', transports)
      const request = await body(c, candidatesRequestSchema)
      connector.addCandidates(c.req.param('sessionId'), request)
      return c.json({ status: 'success' })
    })
  }

  app.get('/sessions', (c) => c.json({ sessions: table.views() }))
  app.get('/sessions/:sessionId', (c) => c.json(table.view(c.req.param('sessionId'))))
  app.delete('/sessions/:sessionId', async (c) => {
    const id = c.req.param('sessionId')
    if (table.view(id).state !== 'ended') {
      await table.live(id).end('stopped', 'The session was stopped through the API.')
    }
    return c.json(table.view(id))
  })
  for (const path of ['/ws', '/ws-client']) {
    app.get(path, () => {
      throw new RequestError('upgrade_required', 'This address only speaks WebSocket.')
    })
  }

  for (const [path, methods] of Object.entries(ROUTES)) {
    app.all(path, (c) => {
      c.header('Allow', methods)
      throw new RequestError('method_not_allowed', `${c.req.path} knows ${methods}, not ${c.req.method}.`)
    })
  }
  app.notFound((c) => sendError(c, new RequestError('not_found', `There is nothing at ${c.req.path}.`)))
  app.onError((error, c) => sendError(c, requestErrorOf(error, logger)))
  return app
}

/** Throws unless the server was started for this transport. */
export function requireTransport(transport: TransportId, transports: readonly TransportId[]): void {
  if (transports.includes(transport)) return
  const message = `This runner only serves ${transports.join(', ')}; ${transport} is turned off by -t.`
  throw new RequestError('transport_not_enabled', message)
}

function start(c: Context<Env>, options: AppOptions, request: ReturnType<typeof startRequestSchema.parse>) {
  const { config, table, tokens, transports } = options
  const transport = request.transport ?? config.transport ?? 'webrtc'
  requireTransport(transport, transports)
  const reachedBy = reach(c, options)
  if (TRANSPORTS[transport].telephony) {
    table.checkRoom()
    return { wsUrl: websocketUrl('/ws', reachedBy) }
  }
  if (transport === 'room') {
    throw new RequestError('not_available', 'This version of the runner cannot make rooms.')
  }
  const session = table.create(transport, request.body)
  session.logger.info('session waits for its caller', { transport })
  if (transport === 'websocket') {
    const token = config.wsAuth === 'token' ? { token: tokens.issue(session.id) } : {}
    return { wsUrl: websocketUrl('/ws-client', reachedBy), sessionId: session.id, ...token }
  }
  const ice = request.enableDefaultIceServers
    ? { iceConfig: { iceServers: [{ urls: [DEFAULT_STUN_URL] }] } }
    : {}
  return { sessionId: session.id, ...ice }
}

function reach(c: Context<Env>, { address, config }: AppOptions): ReachedBy {
  return { header: (name) => c.req.header(name), fallbackHost: address(), proxy: config.proxy }
}

function sendDocument(c: Context<Env>, options: AppOptions, base: string | undefined): Response {
  if (options.page === undefined) {
    throw new RequestError('not_found', 'The browser page was not built. Run: npm run build')
  }
  const facts = {
    transports: options.transports.filter((id) => TRANSPORTS[id].served),
    originAllowed: options.origins.allows(publicOrigin(reach(c, options))),
  }
  return sendFile(c, options.page.document(facts, base))
}

function sendFile(c: Context<Env>, { bytes, headers }: PageFile): Response {
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  return c.body(bytes)
}

function sendError(c: Context<Env>, error: RequestError): Response {
  for (const [name, value] of Object.entries(error.headers)) c.header(name, value)
  return c.json(error.body, error.status as ContentfulStatusCode)
}

function preflight(c: Context<Env>): Response {
  c.header('Access-Control-Allow-Methods', 'GET, HEAD, POST, PATCH, DELETE, OPTIONS')
  c.header('Access-Control-Allow-Headers', c.req.header('access-control-request-headers') ?? '*')
  c.header('Access-Control-Max-Age', '600')
  if (c.req.header('access-control-request-private-network') === 'true') {
    c.header('Access-Control-Allow-Private-Network', 'true')
  }
  return c.body(null, 204)
}
