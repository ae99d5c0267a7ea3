import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { AgentLogRoute, type AgentLogRouteOptions } from '../agent-logs/agent-log-route.ts'
import type { AgentLogStore } from '../agent-logs/agent-log-store.ts'
import { CloudError } from '../errors.ts'

/** A server with nothing but the route of the agents' logs; the name of an agent is its id. */
export class AgentLogServer {
  readonly url: string
  readonly route: AgentLogRoute
  /** How many requests are being answered. */
  active = 0
  readonly #server: Server

  private constructor(server: Server, route: AgentLogRoute) {
    this.#server = server
    this.route = route
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  static async start(logs: AgentLogStore, options?: AgentLogRouteOptions): Promise<AgentLogServer> {
    const route = new AgentLogRoute(logs, options)
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const started = new AgentLogServer(server, route)
    server.on('request', async (request, response) => {
      started.active += 1
      try {
        await route.serve(request, response, request.url?.split(/[/?]/)[3] ?? '')
      } catch (error) {
        const known = error instanceof CloudError ? error : new CloudError('INTERNAL', String(error))
        const retry = known.retryAfterSeconds
        response.writeHead(known.status, {
          'content-type': 'application/json',
          ...(retry !== undefined && { 'retry-after': String(retry) }),
        })
        response.end(JSON.stringify({ error: known.message, code: known.code }))
      } finally {
        started.active -= 1
      }
    })
    return started
  }

  logsUrl(agentId: string, query = ''): string {
    return `${this.url}/v1/agents/${agentId}/logs${query}`
  }

  async close(): Promise<void> {
    this.route.close()
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
