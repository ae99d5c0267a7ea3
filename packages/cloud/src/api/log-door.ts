import type { IncomingMessage, ServerResponse } from 'node:http'
import type { BuildDirectory } from '../builds/build-directory.ts'
import { noBuild } from '../builds/build-service.ts'
import type { LogRoute } from '../logs/log-route.ts'
import { checkParam } from './checks.ts'
import type { Gate } from './gate.ts'
import { buildId } from './routes/build-routes.ts'

const PATH = /^\/v1\/builds\/([^/?#]+)\/logs(?:\?|$)/
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
/** Who asks so gets no stream, but an answer that takes a moment; nearly all do. */
const QUICK: ReadonlySet<string | undefined> = new Set([undefined, '*/*', 'application/json'])

/** Leads readers of build logs past the routes, straight to the stored bytes. */
export class LogDoor {
  readonly #gate: Gate
  readonly #directory: BuildDirectory
  readonly #route: LogRoute

  constructor(gate: Gate, directory: BuildDirectory, route: LogRoute) {
    this.#gate = gate
    this.#directory = directory
    this.#route = route
  }

  /** The build whose log a request reads; nothing if it is another request. */
  match({ method, url = '' }: IncomingMessage): string | undefined {
    return method === 'GET' || method === 'HEAD' ? PATH.exec(url)?.[1] : undefined
  }

  /** Answers a reader. Rejects while nothing was sent. */
  async serve(id: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const entered = this.#gate.enter(incoming.headers.authorization, 'private')
    const key = entered instanceof Promise ? await entered : entered
    if (!QUICK.has(incoming.headers.accept)) this.#gate.watch(key, outgoing)
    const known = UUID.test(id) ? id : checkParam('buildId', buildId, id)
    const standing = await this.#directory.find(key.organizationId, known)
    if (!standing) throw noBuild(known)
    await this.#route.serve(incoming, outgoing, { buildId: standing.id, status: () => standing.status })
  }
}
