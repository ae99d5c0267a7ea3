import { randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { agentName } from '@botcli/protocol/cloud'
import { errorAnswerOf } from '../api/error-answer.ts'
import { CloudError } from '../errors.ts'
import type { CloudLog } from '../log.ts'
import { forwardedHeaders } from './forwarded-headers.ts'
import type { WebsocketAddress } from './public-address.ts'
import { endWith, rawAnswerOf } from './raw-answer.ts'
import type { Relay } from './relay.ts'
import type { SessionPlaces, WebsocketPlace } from './session-places.ts'
import { sessionId } from './session-proxy.ts'

const KEY = /^[+/0-9A-Za-z]{22}==$/
const VISIBLE = /^[!-~]*$/
const UNREACHED = 'The instance that runs this session could not be reached. Start another session.'

/** What the entry works with. */
export interface WebsocketEntryOptions {
  readonly places: Pick<SessionPlaces, 'redeem' | 'refund'>
  readonly relay: Relay
  readonly log: CloudLog
  /** The address by which whoever sent these headers reaches the cloud. */
  readonly publicOrigin: (headers: IncomingMessage['headers']) => string
}

/** Lets callers with a token in, and leads them to the relay. */
export class WebsocketEntry {
  readonly #options: WebsocketEntryOptions

  constructor(options: WebsocketEntryOptions) {
    this.#options = options
  }

  /** Serves one upgrade request. Never throws. */
  async enter(
    address: WebsocketAddress,
    incoming: IncomingMessage,
    socket: Socket,
    head: Buffer,
  ): Promise<void> {
    const { places, relay, log, publicOrigin } = this.#options
    const { token } = address
    let place: WebsocketPlace | undefined
    // A caller that breaks off is no news; without a listener it would end the process.
    socket.on('error', () => {})
    socket.setTimeout(0)
    try {
      checkHandshake(incoming, address)
      relay.checkRoom()
      place = this.#redeem(address)
      const { socketPath } = place
      const origin = publicOrigin(incoming.headers)
      const headers = forwardedHeaders(incoming, { origin, agentName: address.agentName })
      const request = Buffer.from(requestOf(withQuery(place.path, address.query), headers), 'latin1')
      const failure = rawAnswerOf(
        errorAnswerOf(new CloudError('DEPLOY-SESSION-FAILED', UNREACHED), log, ''),
      ).toString('base64')
      const call = { socketPath, request: request.toString('base64'), failure }
      const redeemed = place.sessionId
      await relay.take(socket, call, head, () => places.refund(redeemed, token))
    } catch (error) {
      if (place) places.refund(place.sessionId, token)
      endWith(socket, rawAnswerOf(errorAnswerOf(error, log, randomUUID())))
    }
  }

  #redeem(address: WebsocketAddress): WebsocketPlace {
    const name = agentName.safeParse(address.agentName)
    const id = sessionId.safeParse(address.sessionId)
    const place =
      name.success && id.success ? this.#options.places.redeem(name.data, id.data, address.token) : undefined
    if (place) return place
    const message = 'This address does not open a session: it was used, it has expired, or it never did.'
    throw new CloudError('FORBIDDEN', `${message} Start another session.`)
  }
}

/** What an instance would refuse anyway, before the token is spent on it. */
function checkHandshake({ method, headers }: IncomingMessage, { query }: WebsocketAddress): void {
  const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
  const key = headers['sec-websocket-key'] ?? ''
  if (method !== 'GET' || hasBody || !KEY.test(key) || headers['sec-websocket-version'] !== '13') {
    const message = 'This is not a valid WebSocket handshake; version 13 is spoken here.'
    throw new CloudError('INVALID_REQUEST', message)
  }
  if (VISIBLE.test(query) && !query.includes('#')) return
  throw new CloudError('INVALID_REQUEST', 'The query is not valid: such characters must be encoded.')
}

/** What the caller adds comes last, so that it does not stand for what is ours. */
function withQuery(path: string, query: string): string {
  if (query.length < 2) return path
  return path.includes('?') ? `${path}&${query.slice(1)}` : `${path}${query}`
}

function requestOf(path: string, headers: readonly string[]): string {
  const lines = [`GET ${path} HTTP/1.1`, 'Connection: Upgrade', 'Upgrade: websocket']
  for (let index = 0; index + 1 < headers.length; index += 2) {
    lines.push(`${headers[index]}: ${headers[index + 1]}`)
  }
  return `${lines.join('\r\n')}\r\n\r\n`
}
