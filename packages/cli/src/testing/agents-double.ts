import type { IncomingMessage, ServerResponse } from 'node:http'
import { startRequestSchema } from '@botcli/protocol'
import {
  type AgentLogEntry,
  agentListResponse,
  agentLogsResponse,
  type CreateAgentRequest,
  createAgentRequest,
  type DeploymentRecord,
  deploymentListResponse,
  LOG_LEVELS,
  promoteRequest,
  publicStartResponse,
  rollbackRequest,
  sessionListResponse,
  stopSessionResponse,
  updateAgentRequest,
} from '@botcli/protocol/cloud'
import { DoubleAgent, type DoubleSettings } from './double-agent.ts'

/** What is answered: a status and a body. */
export type Answer = readonly [status: number, body: unknown]

const NOTHING: Answer = [404, { error: 'There is no such thing.', code: 'NOT_FOUND' }]

/** The part of the double that has agents. */
export class AgentsDouble {
  readonly agents = new Map<string, DoubleAgent>()
  /** Those whose sessions can still be read. */
  readonly removed = new Map<string, DoubleAgent>()
  /** What was asked of `/start`, with its key. */
  readonly starts: { readonly agent: string; readonly key: string; readonly asked: unknown }[] = []
  /** Every change that was asked for, as it came. */
  readonly asked: unknown[] = []
  onDeployment: (agent: DoubleAgent, deployment: DeploymentRecord) => void = (agent, { id }) => {
    agent.log('the bot is loaded', { source: 'start', deploymentId: id })
    agent.move(id, 'Active')
  }
  wsUrl = 'ws://127.0.0.1:9/ws'

  add(name: string, region = 'local', settings: DoubleSettings = {}): DoubleAgent {
    const agent = new DoubleAgent(name, region)
    this.agents.set(name, agent)
    agent.deploy('create', settings)
    return agent
  }

  /** Answers what is below `/agents`. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer,
    url: URL,
  ): Answer | undefined | Promise<Answer> {
    const [, , , name, part, id] = url.pathname.split('/')
    const json: unknown = body.length === 0 ? {} : JSON.parse(body.toString())
    if (request.method === 'POST') this.asked.push(json)
    if (name === undefined) return request.method === 'POST' ? this.#create(json) : this.#list()
    const agent = this.agents.get(name)
    const left = this.removed.get(name)
    if (agent === undefined && left && part === 'sessions') {
      return this.#sessions(left, request.method, id, url.searchParams)
    }
    if (agent === undefined) return [404, { error: `There is no agent ${name}.`, code: 'NOT_FOUND' }]
    switch (`${request.method} ${part ?? ''}`) {
      case 'GET ':
        return [200, agent.details]
      case 'POST ':
        return this.#update(agent, json)
      case 'DELETE ':
        this.agents.delete(name)
        this.removed.set(name, agent)
        agent.endLog()
        return [200, { status: 'OK' }]
      case 'POST rollback':
        return this.#rollback(agent, json)
      case 'POST promote':
        return this.#promote(agent, json)
      case 'GET deployments':
        return this.#deployments(agent, url.searchParams)
      case 'GET logs':
        return this.#logs(agent, request, response, url.searchParams)
      default:
        return part === 'sessions' ? this.#sessions(agent, request.method, id, url.searchParams) : NOTHING
    }
  }

  /** Answers `POST /public/{agentName}/start`. */
  start(name: string, key: string, body: Buffer): Answer {
    const agent = this.agents.get(name)
    if (agent === undefined) return [404, { error: `There is no agent ${name}.`, code: 'NOT_FOUND' }]
    const asked = startRequestSchema.parse(JSON.parse(body.toString()))
    this.starts.push({ agent: name, key, asked })
    const transport = asked.transport ?? 'webrtc'
    const { sessionId } = agent.session({ transport, state: 'starting' })
    const room = transport === 'room' && { roomUrl: 'https://rooms.example/x', roomToken: 't' }
    const wire = !['webrtc', 'room'].includes(transport) && { wsUrl: this.wsUrl }
    return [200, publicStartResponse.parse({ sessionId, ...room, ...wire })]
  }

  #list(): Answer {
    const services = [...this.agents.values()].map(({ details }) => {
      const { id, name, region, organizationId, ready, available, activeSessionCount } = details
      const { desiredDeploymentId, activeDeploymentId, reconciledDeploymentId, createdAt, updatedAt } =
        details
      return {
        ...{ id, name, region, organizationId, ready, available, activeSessionCount },
        ...{ desiredDeploymentId, activeDeploymentId, reconciledDeploymentId, createdAt, updatedAt },
        deployment: activeDeploymentId === details.deployment.id ? details.deployment : null,
      }
    })
    return [200, agentListResponse.parse({ services })]
  }

  #create(json: unknown): Answer {
    const asked = createAgentRequest.parse(json)
    const agent = this.add(asked.serviceName, asked.region ?? 'local', settingsOf(asked))
    scale(agent, asked.autoScaling)
    this.#soon(agent)
    return [201, agent.details]
  }

  #update(agent: DoubleAgent, json: unknown): Answer {
    const asked = updateAgentRequest.parse(json)
    scale(agent, asked.autoScaling)
    const before = agent.newest
    const settings = settingsOf(asked)
    const names = Object.keys(settings) as (keyof DoubleSettings)[]
    const isSame = names.every((name) => JSON.stringify(settings[name]) === JSON.stringify(before[name]))
    if (isSame && !asked.forceRedeploy) return [200, { ...agent.details, warning: 'Nothing has changed.' }]
    return this.#deploy(agent, 'update', { ...artifactOf(before), ...settings })
  }

  #rollback(agent: DoubleAgent, json: unknown): Answer {
    const { deploymentId } = rollbackRequest.parse(json)
    const before = agent.deployments.find(({ id, phase }) =>
      deploymentId === undefined ? phase === 'Retired' : id === deploymentId,
    )
    if (before === undefined) return [409, { error: 'There is nothing to go back to.', code: 'CONFLICT' }]
    return this.#deploy(agent, 'rollback', artifactOf(before), before.id)
  }

  #promote(agent: DoubleAgent, json: unknown): Answer {
    const { fromAgent, deploymentId } = promoteRequest.parse(json)
    const from = this.agents.get(fromAgent)?.deployments
    const source = from?.find(({ id, phase }) => (deploymentId ? id === deploymentId : phase === 'Active'))
    if (source === undefined) return NOTHING
    return this.#deploy(agent, 'promote', artifactOf(source), source.id)
  }

  #deploy(
    agent: DoubleAgent,
    reason: DeploymentRecord['reason'],
    settings: DoubleSettings,
    source: string | null = null,
  ): Answer {
    agent.deploy(reason, settings, source)
    this.#soon(agent)
    return [200, agent.details]
  }

  #soon(agent: DoubleAgent): void {
    const { newest } = agent
    setImmediate(() => this.onDeployment(agent, newest))
  }

  #deployments({ deployments: all }: DoubleAgent, query: URLSearchParams): Answer {
    const limit = Number(query.get('limit') ?? 20)
    const offset = Number(query.get('offset') ?? 0)
    const deployments = all.slice(offset, offset + limit)
    return [200, deploymentListResponse.parse({ deployments, total: all.length, limit, offset })]
  }

  #logs(
    agent: DoubleAgent,
    { headers }: IncomingMessage,
    response: ServerResponse,
    query: URLSearchParams,
  ): Answer | undefined {
    const limit = Number(query.get('limit') ?? 10)
    const isWanted = wantedBy(query)
    const asked = query.get('sessionId')
    const session = agent.sessions.find(({ sessionId }) => sessionId === asked)
    if (asked !== null && session === undefined) return noSession(asked)
    if (headers.accept === 'text/event-stream') {
      agent.follow(response, { last: headers['last-event-id'], limit, isWanted })
      if (session?.state === 'ended') response.end('event: end\ndata: {}\n\n')
      return undefined
    }
    const all = agent.entries.filter(isWanted)
    const logs = (query.get('order') === 'asc' ? all : all.toReversed()).slice(0, limit)
    const more = all.length > logs.length && { nextCursor: 'more' }
    return [200, agentLogsResponse.parse({ total: { value: all.length, relation: 'eq' }, logs, ...more })]
  }

  #sessions(
    agent: DoubleAgent,
    method: string | undefined,
    id: string | undefined,
    query: URLSearchParams,
  ): Answer {
    if (id === undefined) {
      const status = query.get('status') ?? 'all'
      const all = agent.sessions.filter(
        ({ state }) => status === 'all' || (state === 'ended') === (status === 'ended'),
      )
      const offset = Number(query.get('offset') ?? 0)
      const sessions = all.slice(offset, offset + Number(query.get('limit') ?? 10))
      return [200, sessionListResponse.parse({ total_count: all.length, sessions })]
    }
    const found = agent.sessions.find(({ sessionId }) => sessionId === id)
    if (found === undefined) return noSession(id)
    if (method !== 'DELETE') return [200, found]
    const outcome = { result: 'ok', cause: 'stopped', message: 'It was stopped.' } as const
    const session = agent.end(id, outcome)
    return [200, stopSessionResponse.parse({ status: 'terminated', session_id: id, session })]
  }
}

function settingsOf(
  asked: Omit<CreateAgentRequest, 'serviceName' | 'secretSet' | 'imagePullSecretSet'> & {
    readonly secretSet?: string | null | undefined
    readonly imagePullSecretSet?: string | null | undefined
  },
): DoubleSettings {
  const { image, buildId, secretSet, imagePullSecretSet, agentProfile, maxSessionDuration } = asked
  const { sessionsPerInstance, noiseFilter } = asked
  return {
    ...(image !== undefined && { image, buildId: null }),
    ...(buildId !== undefined && { buildId, image: `bundle:${buildId}` }),
    ...(secretSet !== undefined && { secretSet }),
    ...(imagePullSecretSet !== undefined && { imagePullSecretSet }),
    ...(agentProfile !== undefined && { agentProfile }),
    ...(maxSessionDuration !== undefined && { maxSessionDuration }),
    ...(sessionsPerInstance !== undefined && { sessionsPerInstance }),
    ...(noiseFilter !== undefined && { noiseFilter }),
  }
}

function artifactOf({ image, buildId, secretSet }: DeploymentRecord): DoubleSettings {
  return { image, buildId, secretSet }
}

function scale(agent: DoubleAgent, asked: CreateAgentRequest['autoScaling']): void {
  const { minReplicas, maxReplicas } = agent.scaling
  agent.scaling = {
    minReplicas: asked?.minAgents ?? minReplicas,
    maxReplicas: asked?.maxAgents ?? maxReplicas,
  }
}

function noSession(id: string): Answer {
  return [404, { error: `The agent has no session ${id}.`, code: 'NOT_FOUND' }]
}

function wantedBy(query: URLSearchParams): (entry: AgentLogEntry) => boolean {
  const is = (name: 'deploymentId' | 'sessionId' | 'source') => (entry: AgentLogEntry) =>
    (query.get(name) ?? entry[name]) === entry[name]
  const rank = (level: string | null) => (LOG_LEVELS as readonly (string | null)[]).indexOf(level)
  return (entry) =>
    is('deploymentId')(entry) &&
    is('sessionId')(entry) &&
    is('source')(entry) &&
    rank(entry.level) >= rank(query.get('level')) &&
    entry.log.includes(query.get('query') ?? '') &&
    Date.parse(entry.timestamp) / 1000 >= Number(query.get('startTime') ?? 0)
}
