import { type DialinResponse, TRANSPORTS, type TransportId } from '@botcli/protocol'
import type { Context, Hono } from 'hono'
import type { CarrierWebhook } from '../carriers/carrier-webhook.ts'
import { DIALIN_PATH, type Dialin } from '../dialin/dialin.ts'
import type { WebhookRequest } from '../providers/webhook-request.ts'
import { RequestError } from '../request-error.ts'
import type { Session } from '../sessions/session.ts'
import type { WhatsappCalls } from '../whatsapp/whatsapp-calls.ts'
import { WHATSAPP_PATH, type WhatsappWebhook } from '../whatsapp/whatsapp-webhook.ts'
import type { OriginPolicy } from './origin-policy.ts'
import { publicOrigin, type ReachedBy, websocketUrl } from './public-url.ts'
import { readBytes } from './request-bytes.ts'
import type { RunnerEnv } from './runner-env.ts'
import { callPath, requireTransport, type StartOptions } from './start.ts'

/** What the providers' routes work with. What is missing is not on. */
export interface ProviderRoutesOptions extends StartOptions {
  readonly origins: OriginPolicy
  readonly carrierWebhook: CarrierWebhook
  readonly dialin: Dialin | undefined
  readonly whatsapp: { readonly webhook: WhatsappWebhook; readonly calls: WhatsappCalls } | undefined
}

type Reach = (c: Context<RunnerEnv>) => ReachedBy

/** Adds the routes that providers of phones and rooms call, or that need them. Gives the methods that each path knows. */
export function addProviderRoutes(
  app: Hono<RunnerEnv>,
  options: ProviderRoutesOptions,
  reach: Reach,
): Readonly<Record<string, string>> {
  const { config, dialin, whatsapp } = options
  addRoomDoor(app, options)
  if (dialin !== undefined) addDialin(app, dialin, options)
  addWhatsapp(app, whatsapp)
  const carrier = config.transport
  const hasWebhook = carrier !== undefined && TRANSPORTS[carrier].telephony
  if (hasWebhook) addCarrierWebhook(app, carrier, options, reach)
  return {
    '/': hasWebhook ? 'GET, POST' : 'GET',
    '/daily': 'GET',
    ...(dialin !== undefined && { [DIALIN_PATH]: 'POST' }),
    [WHATSAPP_PATH]: 'GET, POST',
  }
}

/** Whether a request proves by itself who sends it, so that it needs no origin. */
export function provesItself(method: string, path: string, { config }: ProviderRoutesOptions): boolean {
  const { transport, telephony, room, whatsapp } = config
  const { a, b, c } = telephony.webhookSecrets ?? {}
  if (path === WHATSAPP_PATH) return whatsapp !== undefined
  if (method !== 'POST') return false
  if (path === DIALIN_PATH) return room.dialinSecret !== undefined
  const secrets: Partial<Record<TransportId, unknown>> = { telephony_a: a, telephony_b: b, telephony_c: c }
  return path === '/' && transport !== undefined && secrets[transport] !== undefined
}

/** A room costs money, so only somebody who really goes there gets one. */
function addRoomDoor(app: Hono<RunnerEnv>, options: ProviderRoutesOptions): void {
  app.get('/daily', async (c) => {
    requireTransport('room', options.transports)
    if (!isVisit(c)) {
      throw new RequestError('method_not_allowed', 'This address opens a room, and only for a visitor.')
    }
    options.rooms.check()
    await options.guests.check()
    const room = await inSession(options, async (session) => {
      const opened = await options.rooms.openFresh()
      await options.connector.room(session, { roomUrl: opened.url, token: opened.botToken })
      return opened
    })
    c.header('Cache-Control', 'no-store')
    return c.redirect(room.joinUrl, 307)
  })
}

/** Whether a browser really goes there, rather than to load an image or what may be wanted later. Other programs may say nothing. */
function isVisit(c: Context<RunnerEnv>): boolean {
  const early = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz']
    .map((name) => c.req.header(name) ?? '')
    .join()
  const isOpened = (c.req.header('sec-fetch-dest') ?? 'document') === 'document'
  return c.req.method === 'GET' && isOpened && !/prefetch|preview|prerender/.test(early)
}

function addDialin(app: Hono<RunnerEnv>, dialin: Dialin, options: ProviderRoutesOptions): void {
  app.post(DIALIN_PATH, async (c) => {
    const call = dialin.receive(await webhookRequest(c, ''))
    if (call === undefined) return c.json({ status: 'OK' })
    const answer = await dialin.once(call, async () => {
      await options.guests.check()
      return inSession(options, async (session) => {
        const { room, body } = await dialin.prepare(call)
        await options.connector.room(session, { roomUrl: room.url, token: room.botToken }, { ...body })
        return { roomUrl: room.url, sessionId: session.id }
      })
    })
    return c.json<DialinResponse>(answer)
  })
}

function addWhatsapp(app: Hono<RunnerEnv>, whatsapp: ProviderRoutesOptions['whatsapp']): void {
  const on = () => {
    if (whatsapp !== undefined) return whatsapp
    throw new RequestError('not_configured', 'Calls of the messaging app are off. Start with --whatsapp.')
  }
  app.get(WHATSAPP_PATH, (c) => c.text(on().webhook.verify(c.req.query())))
  app.post(WHATSAPP_PATH, async (c) => {
    const { webhook, calls } = on()
    for (const event of webhook.receive(await webhookRequest(c, ''))) calls.handle(event)
    return c.json({ status: 'success' })
  })
}

function addCarrierWebhook(
  app: Hono<RunnerEnv>,
  carrier: TransportId,
  options: ProviderRoutesOptions,
  reach: Reach,
): void {
  app.post('/', async (c) => {
    const { proxy } = options.config
    const reachedBy = reach(c)
    const origin = proxy === undefined ? (publicOrigin(reachedBy) ?? '') : `https://${proxy}`
    const { search } = new URL(c.req.url)
    const request = await webhookRequest(c, `${origin}${c.req.path}${search}`)
    const { contentType, body } = options.carrierWebhook.answer(carrier, request, {
      // Carriers send no origin; where one is asked for, a call that proved itself gets an address that lets it in.
      wsUrl: () => websocketUrl(options.origins.open ? '/ws' : freshCallPath(carrier, options), reachedBy),
    })
    return c.body(body, 200, { 'Content-Type': contentType })
  })
}

function freshCallPath(carrier: TransportId, { table }: ProviderRoutesOptions): string {
  return callPath(table.create(carrier).id)
}

/** Does the work for a new session in a room, which is forgotten when it comes to nothing. */
async function inSession<T>(
  { table }: ProviderRoutesOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = table.create('room')
  try {
    return await work(session)
  } catch (error) {
    table.discard(session, error instanceof Error ? error.message : String(error))
    throw error
  }
}

async function webhookRequest(c: Context<RunnerEnv>, url: string): Promise<WebhookRequest> {
  return { url, header: (name) => c.req.header(name), body: await readBytes(c.env.incoming) }
}
