import type {
  AgentDetails,
  AgentListItem,
  AgentListResponse,
  AgentLogLevel,
  AgentLogsResponse,
  DeploymentListResponse,
  LogSource,
  SessionListResponse,
  SessionRecord,
} from '@botcli/protocol/cloud'
import { queryOf, type Sender, segment } from './sender.ts'

/** Which sessions are listed. */
export interface SessionsWanted {
  readonly status: 'active' | 'ended' | 'all'
  readonly cursor: string | undefined
  readonly limit: number
}

/** Which entries of a log are wanted; all that is given must hold. */
export interface LogFilter {
  /** This level or a graver one. */
  readonly level?: AgentLogLevel | undefined
  readonly source?: LogSource | undefined
  /** Words that an entry has, whatever their case. */
  readonly query?: string | undefined
  readonly deploymentId?: string | undefined
  readonly instanceId?: string | undefined
  readonly sessionId?: string | undefined
}

/** The part of the private API that is about agents. */
export class AgentsApi {
  readonly #sender: Sender

  constructor(sender: Sender) {
    this.#sender = sender
  }

  async list(): Promise<readonly AgentListItem[]> {
    const path = '/v1/agents?includeActiveDeployment=true'
    return (await this.#sender.ask<AgentListResponse>(path, 'services')).services
  }

  async get(name: string): Promise<AgentDetails> {
    return this.#sender.ask(pathOf(name), 'currentRevision')
  }

  async scale(name: string, autoScaling: { minAgents: number; maxAgents: number }): Promise<void> {
    await this.#sender.ask(pathOf(name), 'name', { method: 'POST', body: { autoScaling } })
  }

  async remove(name: string): Promise<void> {
    await this.#sender.ask(pathOf(name), 'status', { method: 'DELETE' })
  }

  async deployments(name: string, limit: number): Promise<DeploymentListResponse> {
    return this.#sender.ask(`${pathOf(name)}/deployments${queryOf({ limit })}`, 'deployments')
  }

  /** Makes a new deployment of what an earlier one ran. */
  async rollBack(name: string, deploymentId: string): Promise<void> {
    await this.#sender.ask(`${pathOf(name)}/rollback`, 'name', { method: 'POST', body: { deploymentId } })
  }

  async sessions(name: string, wanted: SessionsWanted): Promise<SessionListResponse> {
    return this.#sender.ask(`${pathOf(name)}/sessions${queryOf({ ...wanted })}`, 'sessions')
  }

  async session(name: string, sessionId: string): Promise<SessionRecord> {
    return this.#sender.ask(`${pathOf(name)}/sessions/${segment(sessionId)}`, 'sessionId')
  }

  /** Stops a session, and resolves when it is over. */
  async stopSession(name: string, sessionId: string): Promise<void> {
    await this.#sender.ask(`${pathOf(name)}/sessions/${segment(sessionId)}`, 'session_id', {
      method: 'DELETE',
    })
  }

  /** A page of a log, the newest entries first; `cursor` leads to older ones. */
  async logPage(
    name: string,
    filter: LogFilter,
    { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
  ): Promise<AgentLogsResponse> {
    const query = queryOf({ ...filter, order: 'desc', limit, cursor })
    return this.#sender.ask(`${pathOf(name)}/logs${query}`, 'logs')
  }

  /** The stream of a log, after an event or the number of an entry if that is given. */
  async logStream(
    name: string,
    filter: LogFilter,
    { limit, lastId }: { readonly limit: number; readonly lastId: string | undefined },
    signal: AbortSignal,
  ): Promise<Response> {
    return this.#sender.stream(`${pathOf(name)}/logs${queryOf({ ...filter, limit })}`, lastId, signal)
  }
}

function pathOf(name: string): string {
  return `/v1/agents/${segment(name)}`
}
