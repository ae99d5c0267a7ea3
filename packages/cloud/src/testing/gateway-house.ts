import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApp } from '../api/app.ts'
import { Gate } from '../api/gate.ts'
import { HttpServer } from '../api/http-server.ts'
import type { LogDoor } from '../api/log-door.ts'
import { publicOrigin } from '../api/public-url.ts'
import type { Route } from '../api/route.ts'
import { gatewayRoutes } from '../api/routes/gateway-routes.ts'
import { Gateway, type GatewayOptions } from '../gateway/gateway.ts'
import { KeyService } from '../keys/key-service.ts'
import type { CloudLog } from '../log.ts'
import { SqliteStore } from '../store/sqlite-store.ts'
import { ListedPlaces } from './listed-places.ts'

/** What a test may choose. */
export interface HouseOptions extends Partial<Pick<GatewayOptions, 'limits' | 'maxWebsockets'>> {
  readonly idleMs?: number
  readonly publicUrl?: string
  readonly routes?: readonly Route[]
}

/** Two organizations with their keys, and a gateway that lets them in; the sessions are what a test lists. */
export class GatewayHouse {
  readonly places = new ListedPlaces()
  /** What was told, as JSON. */
  readonly told: string[] = []
  readonly gateway: Gateway
  readonly organizationId = randomUUID()
  readonly otherOrganizationId = randomUUID()
  publicKey = ''
  privateKey = ''
  otherPublicKey = ''
  readonly #folder: string
  readonly #store: SqliteStore
  readonly #keys: KeyService
  readonly #server: HttpServer

  private constructor(folder: string, options: HouseOptions) {
    const { limits, maxWebsockets, idleMs, publicUrl, routes = [] } = options
    const tell =
      (level: string) =>
      (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
        const error = fields.error instanceof Error ? { error: fields.error.stack } : {}
        this.told.push(JSON.stringify({ level, message, ...fields, ...error }))
      }
    const log: CloudLog = { info: tell('info'), warn: tell('warn'), error: tell('error') }
    this.#folder = folder
    this.#store = new SqliteStore(join(folder, 'cloud.db'))
    this.#keys = new KeyService(this.#store, log, Date.now)
    const gate = new Gate(this.#keys)
    this.gateway = new Gateway({
      ...{ gate, places: this.places, log, limits, maxWebsockets },
      publicOrigin: (headers) => publicOrigin(headers, this.#server.address, publicUrl),
    })
    const app = createApp({
      routes: [...gatewayRoutes(), ...routes],
      ...{ gate, log, version: '0', doors: new Map(), dashboard: undefined },
      check: async () => {},
    })
    // There are no builds here.
    const logDoor = { match: () => undefined } as unknown as LogDoor
    this.#server = new HttpServer({
      ...{ host: '127.0.0.1', port: 0, app, log, logDoor, gateway: this.gateway, idleMs },
    })
  }

  static async start(options: HouseOptions = {}): Promise<GatewayHouse> {
    const house = new GatewayHouse(await mkdtemp(join(tmpdir(), 'botcli-gateway-')), options)
    for (const id of [house.organizationId, house.otherOrganizationId]) {
      await house.#store.organizations.create({ id, name: id, defaultRegion: 'local', createdAt: 0 })
    }
    house.publicKey = await house.#key(house.organizationId, 'public')
    house.privateKey = await house.#key(house.organizationId, 'private')
    house.otherPublicKey = await house.#key(house.otherOrganizationId, 'public')
    await house.#server.listen()
    return house
  }

  get url(): string {
    return `http://${this.#server.address}`
  }

  /** A session of the first organization at an instance; gives its id. */
  session(socketPath: string, tokens: readonly string[] = [], agentName = 'my-agent'): string {
    const sessionId = randomUUID()
    this.places.add({ organizationId: this.organizationId, agentName, sessionId, socketPath }, tokens)
    return sessionId
  }

  /** Asks a session, with the right key. */
  ask(sessionId: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    if (!headers.has('authorization')) headers.set('authorization', `Bearer ${this.publicKey}`)
    const url = `${this.url}/v1/public/my-agent/sessions/${sessionId}/${path}`
    return fetch(url, { ...init, headers })
  }

  /** The head of a request to a session, as bytes on the wire. */
  head(sessionId: string, method: string, path: string, lines: readonly string[] = []): string {
    const first = `${method} /v1/public/my-agent/sessions/${sessionId}/${path} HTTP/1.1`
    const key = `Authorization: Bearer ${this.publicKey}`
    return [first, 'Host: cloud.example', key, ...lines, '', ''].join('\r\n')
  }

  /** The address of a session's WebSocket. */
  websocketUrl(sessionId: string, token: string, name = 'ws-client'): string {
    return `${this.url.replace('http', 'ws')}/v1/public/my-agent/sessions/${sessionId}/${token}/${name}`
  }

  async close(): Promise<void> {
    await this.#server.close()
    await this.gateway.close()
    await this.#store.close()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #key(organizationId: string, family: 'public' | 'private'): Promise<string> {
    return (await this.#keys.create(organizationId, { name: 'k', family })).key
  }
}

/** Everything that a stream gives. */
export async function bytesOf(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks)
}
