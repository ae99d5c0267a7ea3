import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Gate } from '../api/gate.ts'
import type { CloudLog } from '../log.ts'
import type { ExchangeLimits } from './exchange.ts'
import { type ProxyAddress, proxyAddress, websocketAddress } from './public-address.ts'
import { Relay } from './relay.ts'
import type { SessionPlaces } from './session-places.ts'
import { SessionProxy } from './session-proxy.ts'
import { WebsocketEntry } from './websocket-entry.ts'

/** What a gateway works with. */
export interface GatewayOptions {
  readonly gate: Gate
  readonly places: SessionPlaces
  readonly log: CloudLog
  /** The address by which whoever sent these headers reaches the cloud. */
  readonly publicOrigin: (headers: IncomingMessage['headers']) => string
  /** How long an instance may keep a caller waiting. */
  readonly limits?: ExchangeLimits | undefined
  /** WebSockets at the same time. */
  readonly maxWebsockets?: number | undefined
}

/** Where callers come in from outside: it brings their requests and WebSockets to the instance that runs their session. */
export class Gateway {
  readonly #proxy: SessionProxy
  readonly #relay: Relay
  readonly #entry: WebsocketEntry

  constructor({ gate, places, log, publicOrigin, limits, maxWebsockets }: GatewayOptions) {
    this.#proxy = new SessionProxy({ gate, places, publicOrigin, limits })
    this.#relay = new Relay({ log, maxConnections: maxWebsockets })
    this.#entry = new WebsocketEntry({ places, log, publicOrigin, relay: this.#relay })
  }

  /** WebSockets that are relayed now. */
  get websockets(): number {
    return this.#relay.connections
  }

  /** The session that a request is for; nothing if it is for something else. */
  match({ url = '' }: IncomingMessage): ProxyAddress | undefined {
    return url.includes('/sessions/') ? proxyAddress(url) : undefined
  }

  /** Serves what `match` has found. Rejects while nothing was sent. */
  serve(address: ProxyAddress, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    return this.#proxy.serve(address, incoming, outgoing)
  }

  /** Serves an upgrade, if it is for a session. */
  enter(incoming: IncomingMessage, socket: Socket, head: Buffer): boolean {
    const address = websocketAddress(incoming.url ?? '')
    if (address === undefined || incoming.headers.upgrade?.toLowerCase() !== 'websocket') return false
    void this.#entry.enter(address, incoming, socket, head)
    return true
  }

  /** Ends what is being proxied. What is relayed goes on without this process. */
  async close(): Promise<void> {
    this.#proxy.close()
    await this.#relay.close()
  }
}
