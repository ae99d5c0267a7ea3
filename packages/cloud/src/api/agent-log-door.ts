import type { IncomingMessage, ServerResponse } from 'node:http'
import { agentName } from '@botcli/protocol/cloud'
import type { AgentLogRoute } from '../agent-logs/agent-log-route.ts'
import { sessionAskedFor } from '../agent-logs/agent-logs-query.ts'
import { noAgent } from '../agents/place-refusal.ts'
import type { Store } from '../store/store.ts'
import { checkParam } from './checks.ts'
import type { Gate } from './gate.ts'

/** What the door works with. */
export interface AgentLogDoorOptions {
  readonly gate: Gate
  readonly store: Store
  readonly route: AgentLogRoute
  /** Whether the log of an agent is kept. */
  readonly isKept: (agentId: string) => boolean
}

/** Leads readers of agents' logs past the routes: they may stay for hours. */
export class AgentLogDoor {
  readonly #options: AgentLogDoorOptions

  constructor(options: AgentLogDoorOptions) {
    this.#options = options
  }

  /** Answers a reader who has come in. Rejects while nothing was sent. */
  async serve(name: string, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const { gate, route } = this.#options
    const key = await gate.enter(incoming.headers.authorization, 'private')
    gate.watch(key, outgoing)
    const known = checkParam('agentName', agentName, name)
    const agentId = await this.#agentId(key.organizationId, known, sessionAskedFor(incoming.url ?? ''))
    if (agentId === undefined) throw noAgent(known)
    await route.serve(incoming, outgoing, agentId)
  }

  /**
   * The agent of a name. One that was removed is as good as gone when its log is. But a session is there as long as it is recorded: it may be of
   * one that was removed, and whose name another one has now.
   */
  async #agentId(
    organizationId: string,
    name: string,
    sessionId: string | undefined,
  ): Promise<string | undefined> {
    const { store, isKept } = this.#options
    const { agents, sessions } = store
    const session = sessionId === undefined ? undefined : await sessions.get(organizationId, sessionId)
    if (session?.agentName === name) return session.agentId
    const agent = await agents.latest(organizationId, name)
    return agent && isKept(agent.id) ? agent.id : undefined
  }
}
