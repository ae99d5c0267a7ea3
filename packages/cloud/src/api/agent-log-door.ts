import type { IncomingMessage, ServerResponse } from 'node:http'
import { agentName } from '@botcli/protocol/cloud'
import type { AgentLogRoute } from '../agent-logs/agent-log-route.ts'
import { noAgent } from '../agents/agent-service.ts'
import type { Store } from '../store/store.ts'
import { checkParam } from './checks.ts'
import type { Gate } from './gate.ts'

/** What the door works with. */
export interface AgentLogDoorOptions {
  readonly gate: Gate
  readonly store: Store
  readonly route: AgentLogRoute
}

/** Leads readers of agents' logs past the routes: they may stay for hours. */
export class AgentLogDoor {
  readonly #options: AgentLogDoorOptions

  constructor(options: AgentLogDoorOptions) {
    this.#options = options
  }

  /** Answers a reader who has come in. Rejects while nothing was sent. */
  async serve(name: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { gate, store, route } = this.#options
    const key = await gate.enter(incoming.headers.authorization, 'private')
    gate.watch(key, outgoing)
    const known = checkParam('agentName', agentName, name)
    const agent = await store.agents.latest(key.organizationId, known)
    if (!agent) throw noAgent(known)
    await route.serve(incoming, outgoing, agent.id)
  }
}
