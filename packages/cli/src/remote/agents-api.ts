import {
  type AgentDetails,
  type AgentListResponse,
  type AgentLogLevel,
  type AgentLogsResponse,
  agentDetails,
  agentListResponse,
  agentLogsResponse,
  type CreateAgentRequest,
  type DeploymentListResponse,
  deploymentListResponse,
  type LogSource,
  type PromoteRequest,
  type RollbackRequest,
  type SessionListResponse,
  type SessionRecord,
  type StopSessionResponse,
  sessionListResponse,
  sessionRecord,
  stopSessionResponse,
  type UpdateAgentRequest,
} from '@botcli/protocol/cloud'
import type { Asked, CloudHttp } from './http.ts'

/** Which entries of an agent's log are wanted. */
export interface AgentLogFilter {
  readonly deploymentId?: string | undefined
  readonly sessionId?: string | undefined
  readonly source?: LogSource | undefined
  /** This one or graver. */
  readonly level?: AgentLogLevel | undefined
  readonly query?: string | undefined
  /** Unix seconds. */
  readonly startTime?: number | undefined
  readonly limit?: number | undefined
}

/** A page of them. */
export interface AgentLogPage extends AgentLogFilter {
  readonly order?: 'asc' | 'desc'
  readonly cursor?: string | undefined
}

/** Which sessions are wanted. */
export interface SessionFilter {
  readonly status?: 'active' | 'ended' | 'all' | undefined
  readonly deploymentId?: string | undefined
  readonly limit?: number | undefined
  readonly offset?: number | undefined
}

/** What is sent to change an agent; what is not said is not forced. */
export type AgentChange = Omit<UpdateAgentRequest, 'forceRedeploy'> & { readonly forceRedeploy?: boolean }

/** Agents and their sessions in the private API, an operation a method. Everything fails with a RemoteError. */
export class AgentsApi {
  readonly #http: CloudHttp

  constructor(http: CloudHttp) {
    this.#http = http
  }

  list({ region }: { readonly region?: string | undefined } = {}): Promise<AgentListResponse> {
    const query = { includeActiveDeployment: 'true', region }
    return this.#http.json({ path: '/agents', query }, agentListResponse)
  }

  get(name: string, signal?: AbortSignal): Promise<AgentDetails> {
    return this.#http.json({ path: pathOf(name), signal }, agentDetails)
  }

  create(body: CreateAgentRequest): Promise<AgentDetails> {
    return this.#change({ path: '/agents', body })
  }

  update(name: string, body: AgentChange): Promise<AgentDetails> {
    return this.#change({ path: pathOf(name), body })
  }

  rollback(name: string, body: RollbackRequest): Promise<AgentDetails> {
    return this.#change({ path: `${pathOf(name)}/rollback`, body })
  }

  promote(name: string, body: PromoteRequest): Promise<AgentDetails> {
    return this.#change({ path: `${pathOf(name)}/promote`, body })
  }

  remove(name: string): Promise<void> {
    return this.#http.done({ method: 'DELETE', path: pathOf(name) })
  }

  deployments(
    name: string,
    query: { readonly limit: number; readonly offset?: number },
  ): Promise<DeploymentListResponse> {
    return this.#http.json({ path: `${pathOf(name)}/deployments`, query }, deploymentListResponse)
  }

  logs(name: string, page: AgentLogPage, signal?: AbortSignal): Promise<AgentLogsResponse> {
    return this.#http.json({ path: `${pathOf(name)}/logs`, query: { ...page }, signal }, agentLogsResponse)
  }

  /** The log as an event stream, after an event that was seen before. */
  openLog(
    name: string,
    filter: AgentLogFilter,
    { lastEventId, signal }: { readonly lastEventId: string | undefined; readonly signal: AbortSignal },
  ): Promise<Response> {
    return this.#http.stream({
      path: `${pathOf(name)}/logs`,
      query: { ...filter },
      headers: {
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
      signal,
    })
  }

  sessions(name: string, filter: SessionFilter): Promise<SessionListResponse> {
    return this.#http.json({ path: `${pathOf(name)}/sessions`, query: { ...filter } }, sessionListResponse)
  }

  session(name: string, id: string): Promise<SessionRecord> {
    return this.#http.json({ path: sessionPath(name, id) }, sessionRecord)
  }

  stopSession(name: string, id: string): Promise<StopSessionResponse> {
    return this.#http.json({ method: 'DELETE', path: sessionPath(name, id) }, stopSessionResponse)
  }

  #change(asked: Pick<Asked, 'path' | 'body'>): Promise<AgentDetails> {
    return this.#http.json({ ...asked, method: 'POST' }, agentDetails)
  }
}

function pathOf(name: string): string {
  return `/agents/${encodeURIComponent(name)}`
}

function sessionPath(name: string, id: string): string {
  return `${pathOf(name)}/sessions/${encodeURIComponent(id)}`
}
