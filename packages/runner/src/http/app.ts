import {
  candidatesRequestSchema,
  offerRequestSchema,
  type StatusResponse,
  startRequestSchema,
} from '@botcli/protocol'
import { type Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from '../log/logger.ts'
import { RequestError } from '../request-error.ts'
import { addBotRequests } from './bot-requests.ts'
import { requestErrorOf } from './errors.ts'
import { addInstanceRoutes, givenSessionId, type ServedInstance } from './instance-routes.ts'
import { parseJson } from './json-body.ts'
import type { Page, PageFile } from './page.ts'
import { pageFacts } from './page-facts.ts'
import { addProviderRoutes, type ProviderRoutesOptions, provesItself } from './provider-routes.ts'
import { publicOrigin, type ReachedBy, websocketUrl } from './public-url.ts'
import { readBytes } from './request-bytes.ts'
import type { RunnerEnv } from './runner-env.ts'
import { requireTransport, start } from './start.ts'

/** The routes, ready to be served. */
export type App = Hono<RunnerEnv>

/** What the routes work with. */
export interface AppOptions extends ProviderRoutesOptions {
  readonly page: Page | undefined
  readonly logger: Logger
  /** Where the server listens, once it does. */
  readonly address: () => string
  /** Missing on the developer's machine. */
  readonly instance: ServedInstance | undefined
}

/** Every route of ours, with the methods that it knows. Another method is 405. */
const ROUTES: Readonly<Record<string, string>> = {
  '/client': 'GET',
  '/client/*': 'GET',
  '/status': 'GET',
  '/start': 'POST',
  '/api/offer': 'POST, PATCH',
  '/sessions': 'GET',
  '/sessions/:sessionId': 'GET, DELETE',
  '/sessions/:sessionId/api/offer': 'POST, PATCH',
  '/sessions/:sessionId/ws': 'GET',
  '/ws': 'GET',
  '/ws-client': 'GET',
}

const NOT_BUILT = 'The browser page was not built. Run: npm run build'
const PROVIDER_ERRORS: ReadonlySet<string> = new Set(['sender_not_verified', 'provider_failed'])

/** The HTTP half of the server. */
export function createApp(options: AppOptions): App {
  const { origins, table, connector, transports, logger, instance } = options
  const app = new Hono<RunnerEnv>()
  const body = async <T>(c: Context<RunnerEnv>, schema: Parameters<typeof parseJson<T>>[2]) =>
    parseJson(await readBytes(c.env.incoming), c.req.path, schema, logger)

  app.use('*', async (c, next) => {
    const origin = c.req.header('origin')
    for (const [name, value] of Object.entries(origins.headers(origin))) c.header(name, value)
    c.header('Access-Control-Expose-Headers', 'Retry-After')
    if (!provesItself(c.req.method, c.req.path, options)) {
      origins.check({
        method: c.req.method,
        path: c.req.path,
        origin,
        fetchMode: c.req.header('sec-fetch-mode'),
        fetchSite: c.req.header('sec-fetch-site'),
      })
    }
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
  app.get('/status', (c) => c.json<StatusResponse>({ status: 'ready', transports }))
  app.post('/start', async (c) => {
    const cloud = instance && { sessionId: givenSessionId(c) }
    const request = await body(c, startRequestSchema)
    return c.json(await start(request, reach(c, options), options, cloud))
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
  for (const path of ['/ws', '/ws-client', '/sessions/:sessionId/ws']) {
    app.get(path, () => {
      throw new RequestError('upgrade_required', 'This address only speaks WebSocket.')
    })
  }

  const providerRoutes = addProviderRoutes(app, options, (c) => reach(c, options))
  const instanceRoutes = instance && addInstanceRoutes(app, instance, table)

  for (const [path, methods] of Object.entries({ ...ROUTES, ...providerRoutes, ...instanceRoutes })) {
    app.all(path, (c) => {
      c.header('Allow', methods)
      throw new RequestError('method_not_allowed', `${c.req.path} knows ${methods}, not ${c.req.method}.`)
    })
  }
  // The last one, so that what is ours stays ours.
  addBotRequests(app, table)
  app.notFound((c) => sendError(c, new RequestError('not_found', `There is nothing at ${c.req.path}.`)))
  app.onError((error, c) => {
    const refusal = requestErrorOf(error, logger)
    // Of these only a provider would know, and it does not tell.
    if (PROVIDER_ERRORS.has(refusal.code))
      logger.warn(refusal.message, { path: c.req.path, code: refusal.code })
    return sendError(c, refusal)
  })
  return app
}

function reach(c: Context<RunnerEnv>, { address, config }: AppOptions): ReachedBy {
  return { header: (name) => c.req.header(name), fallbackHost: address(), proxy: config.proxy }
}

function sendDocument(c: Context<RunnerEnv>, options: AppOptions, base: string | undefined): Response {
  if (options.page === undefined) {
    const why = options.instance ? 'In the cloud no page is served.' : NOT_BUILT
    throw new RequestError('not_found', why)
  }
  const { config, transports, origins } = options
  const reachedBy = reach(c, options)
  const origin = publicOrigin(reachedBy)
  const facts = pageFacts({
    config,
    transports,
    origin,
    originAllowed: origins.allows(origin),
    wsUrl: websocketUrl('/ws', reachedBy),
  })
  return sendFile(c, options.page.document(facts, base))
}

function sendFile(c: Context<RunnerEnv>, { bytes, headers }: PageFile): Response {
  for (const [name, value] of Object.entries(headers)) c.header(name, value)
  return c.body(bytes)
}

function sendError(c: Context<RunnerEnv>, error: RequestError): Response {
  for (const [name, value] of Object.entries(error.headers)) c.header(name, value)
  return c.json(error.body, error.status as ContentfulStatusCode)
}

function preflight(c: Context<RunnerEnv>): Response {
  c.header('Access-Control-Allow-Methods', 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
  c.header('Access-Control-Allow-Headers', c.req.header('access-control-request-headers') ?? '*')
  c.header('Access-Control-Max-Age', '600')
  if (c.req.header('access-control-request-private-network') === 'true') {
    c.header('Access-Control-Allow-Private-Network', 'true')
  }
  return c.body(null, 204)
}
