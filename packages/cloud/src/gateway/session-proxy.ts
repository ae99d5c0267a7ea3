import { Agent, type IncomingMessage, type ServerResponse } from 'node:http'
import { agentName } from '@botcli/protocol/cloud'
import * as z from 'zod'
import { checkParam } from '../api/checks.ts'
import type { Gate } from '../api/gate.ts'
import { CloudError } from '../errors.ts'
import { awaitsContinue, discardRest, Exchange, type ExchangeLimits } from './exchange.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import { checkRest, type ProxyAddress, pathOf } from './public-address.ts'
import type { SessionPlaces } from './session-places.ts'

/** Ids of sessions. */
export const sessionId = z.guid().toLowerCase()

/** An offer may have to wait for a bot, and a bot's own routes for services of others. */
const LIMITS: ExchangeLimits = { answerMs: 60_000, silenceMs: 5 * 60_000 }
/** Requests to one session whose answers are not whole yet. */
const MAX_REQUESTS = 100
/** Connections to one instance that wait for the next request. They are let go before an instance lets go of them. */
const KEPT = { maxFreeSockets: 64, timeout: 4000 }

/** What the proxy works with. */
export interface SessionProxyOptions {
  readonly gate: Gate
  readonly places: Pick<SessionPlaces, 'find'>
  /** The address by which whoever sent these headers reaches the cloud. */
  readonly publicOrigin: (headers: IncomingMessage['headers']) => string
  readonly limits?: ExchangeLimits | undefined
}

/** Takes requests of callers to the one instance that runs their session. */
export class SessionProxy {
  readonly #options: SessionProxyOptions
  readonly #agent = new Agent({ keepAlive: true, scheduling: 'lifo', ...KEPT })
  readonly #requests = new Map<string, number>()

  constructor(options: SessionProxyOptions) {
    this.#options = options
  }

  /** Serves one request. Rejects while nothing was sent. */
  async serve(address: ProxyAddress, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    try {
      const { gate, publicOrigin, limits = LIMITS } = this.#options
      const entered = gate.enter(incoming.headers.authorization, 'public')
      const { organizationId } = entered instanceof Promise ? await entered : entered
      const place = this.#place(organizationId, address, incoming)
      const origin = publicOrigin(incoming.headers)
      const exchange = new Exchange(incoming, outgoing, {
        socketPath: place.socketPath,
        path: `/sessions/${place.sessionId}/${pathOf(address)}${address.query}`,
        headers: forwardedHeaders(incoming, { origin, agentName: address.agentName }),
        agent: this.#agent,
        limits,
      })
      await this.#counted(place.sessionId, () => exchange.run())
    } catch (error) {
      // A body that waits to be asked for may come or not, so nobody can tell what the next bytes are.
      if (awaitsContinue(incoming) && !outgoing.headersSent) outgoing.setHeader('Connection', 'close')
      if (!incoming.complete) discardRest(incoming)
      throw error
    }
  }

  /** Ends connections that wait, and requests that are not answered. */
  close(): void {
    this.#agent.destroy()
  }

  #place(organizationId: string, address: ProxyAddress, { method, headers }: IncomingMessage) {
    const name = checkParam('agentName', agentName, address.agentName)
    const id = checkParam('sessionId', sessionId, address.sessionId)
    checkRest(address)
    if (method === 'TRACE') throw new CloudError('INVALID_REQUEST', 'Sessions cannot be asked with TRACE.')
    const encoding = headers['transfer-encoding']
    if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
      throw new CloudError('INVALID_REQUEST', 'Of transfer encodings only chunked is understood.')
    }
    const place = this.#options.places.find(organizationId, name, id)
    if (place) return place
    const message = `There is no session ${id} of the agent ${name}, or it is over.`
    throw new CloudError('NOT_FOUND', message)
  }

  async #counted(id: string, run: () => Promise<void>): Promise<void> {
    const before = this.#requests.get(id) ?? 0
    if (before >= MAX_REQUESTS) {
      const message = `${MAX_REQUESTS} requests to this session are being answered.`
      throw new CloudError('RATE_LIMITED', message, { retryAfterSeconds: 1 })
    }
    this.#requests.set(id, before + 1)
    try {
      await run()
    } finally {
      const left = (this.#requests.get(id) ?? 1) - 1
      if (left > 0) this.#requests.set(id, left)
      else this.#requests.delete(id)
    }
  }
}
