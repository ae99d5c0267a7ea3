import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { BuildStatus } from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import { LogRoute, type LogRouteOptions } from '../logs/log-route.ts'
import type { LogStore } from '../logs/log-store.ts'

/** A server with nothing but the route of the build logs, for builds of any id. */
export class LogServer {
  readonly url: string
  readonly route: LogRoute
  /** What the builds' status is. */
  status: BuildStatus = 'building'
  /** How many requests are being answered. */
  active = 0
  readonly #server: Server

  private constructor(server: Server, route: LogRoute) {
    this.#server = server
    this.route = route
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(logs: LogStore, options?: LogRouteOptions): Promise<LogServer> {
    const route = new LogRoute(logs, options)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const started = new LogServer(server, route)
    server.on('request', async (request, response) => {
      const buildId = request.url?.split(/[/?]/)[3] ?? ''
      started.active += 1
      try {
        await route.serve(request, response, { buildId, status: () => started.status })
      } catch (error) {
        const known = error instanceof CloudError ? error : new CloudError('INTERNAL', String(error))
        response.writeHead(known.status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: known.message, code: known.code }))
      } finally {
        started.active -= 1
      }
    })
    return started
  }

  logsUrl(id: string, query = ''): string {
    return `${this.url}/v1/builds/${id}/logs${query}`
  }

  async close(): Promise<void> {
    this.route.close()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
