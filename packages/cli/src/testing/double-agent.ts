import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import {
  AGENT_DEFAULTS,
  type AgentDetails,
  type AgentLogEntry,
  type AgentLogRemoved,
  agentDetails,
  agentLogEntry,
  type DeployFailure,
  type DeploymentPhase,
  type DeploymentReason,
  type DeploymentRecord,
  deploymentRecord,
  type RevisionInfo,
  type SessionRecord,
  sessionRecord,
} from '@botcli/protocol/cloud'

/** What a deployment of the double is made of. */
export type DoubleSettings = Partial<
  Pick<
    DeploymentRecord,
    | 'buildId'
    | 'image'
    | 'secretSet'
    | 'imagePullSecretSet'
    | 'agentProfile'
    | 'maxSessionDuration'
    | 'sessionsPerInstance'
    | 'noiseFilter'
  >
>

/** What of a log is followed, and after which event. */
export interface FollowWish {
  readonly last: string | readonly string[] | undefined
  readonly limit: number
  isWanted(entry: AgentLogEntry): boolean
}

/** An agent of the double, whose deployments, log and sessions a test decides. Everything is checked by the schemas of the API. */
export class DoubleAgent {
  readonly id = randomUUID()
  readonly organizationId = randomUUID()
  readonly name: string
  readonly region: string
  readonly createdAt = new Date().toISOString()
  /** The newest first. */
  readonly deployments: DeploymentRecord[] = []
  readonly entries: AgentLogEntry[] = []
  /** The newest first. */
  readonly sessions: SessionRecord[] = []
  scaling: AgentDetails['autoScaling'] = {
    minReplicas: AGENT_DEFAULTS.minAgents,
    maxReplicas: AGENT_DEFAULTS.maxAgents,
  }
  restarts = 0
  /** Whether the instances of the deployment that is active keep ending. */
  isDown = false
  readonly #followers = new Map<ServerResponse, (entry: AgentLogEntry) => boolean>()

  constructor(name: string, region: string) {
    this.name = name
    this.region = region
  }

  /** The newest deployment. */
  get newest(): DeploymentRecord {
    const [newest] = this.deployments
    if (newest === undefined) throw new Error(`${this.name} has no deployment`)
    return newest
  }

  deploy(reason: DeploymentReason, settings: DoubleSettings, source: string | null = null): DeploymentRecord {
    const now = new Date().toISOString()
    const made = deploymentRecord.parse({
      ...{ id: randomUUID(), serviceId: this.id, number: this.deployments.length + 1, reason },
      ...{ sourceDeploymentId: source, phase: 'Creating', phaseStartedAt: now, buildId: null, image: '' },
      ...{ secretSet: null, imagePullSecretSet: null, noiseFilter: { audioFilter: null }, failure: null },
      agentProfile: AGENT_DEFAULTS.agentProfile,
      maxSessionDuration: AGENT_DEFAULTS.maxSessionDuration,
      sessionsPerInstance: AGENT_DEFAULTS.sessionsPerInstance,
      ...{ createdAt: now, updatedAt: now },
      ...settings,
    })
    this.deployments.unshift(made)
    return made
  }

  /** Moves a deployment on; one that becomes active takes the place of the one before. */
  move(id: string, phase: DeploymentPhase, failure: DeployFailure | null = null): void {
    const now = new Date().toISOString()
    for (const [index, one] of this.deployments.entries()) {
      if (one.id === id) this.deployments[index] = { ...one, phase, failure, phaseStartedAt: now }
      else if (phase === 'Active' && one.phase === 'Active') {
        this.deployments[index] = { ...one, phase: 'Retired', phaseStartedAt: now }
      }
    }
  }

  log(text: string, fields: Partial<AgentLogEntry> = {}): AgentLogEntry {
    const entry = agentLogEntry.parse({
      ...{ id: this.entries.length + 1, log: text, timestamp: new Date().toISOString(), source: 'run' },
      ...{ level: 'info', deploymentId: null, instanceId: null, sessionId: null },
      ...fields,
    })
    this.entries.push(entry)
    for (const [follower, isWanted] of this.#followers)
      if (isWanted(entry)) follower.write(this.#eventOf(entry))
    return entry
  }

  session(fields: Partial<SessionRecord> = {}): SessionRecord {
    const now = new Date().toISOString()
    const made = sessionRecord.parse({
      ...{ sessionId: randomUUID(), serviceId: this.id, agentName: this.name },
      ...{ organizationId: this.organizationId, deploymentId: this.newest.id, instanceId: randomUUID() },
      ...{ transport: 'webrtc', state: 'active', createdAt: now, updatedAt: now, connectedAt: now },
      ...{ endedAt: null, durationSeconds: 1.25, botStartSeconds: 0.2, coldStart: false },
      ...{ completionStatus: null, outcome: null },
      ...fields,
    })
    this.sessions.unshift(made)
    return made
  }

  /** Ends a session, and the streams of its log with it. */
  end(id: string, outcome: NonNullable<SessionRecord['outcome']>): SessionRecord {
    const at = this.sessions.findIndex(({ sessionId }) => sessionId === id)
    const found = this.sessions[at]
    if (found === undefined) throw new Error(`there is no session ${id}`)
    const endedAt = new Date().toISOString()
    const ended = { ...found, state: 'ended' as const, endedAt, completionStatus: outcome.cause, outcome }
    this.sessions[at] = ended
    for (const follower of this.#followers.keys()) follower.end('event: end\ndata: {}\n\n')
    return ended
  }

  /** Sends what is there, then what comes. */
  follow(response: ServerResponse, wish: FollowWish): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': hello\n\n')
    const [number, mark] = /^(\d+)-(.*)$/.exec(wish.last?.toString() ?? '')?.slice(1) ?? []
    const isOther = mark !== undefined && mark !== this.#mark
    if (isOther) response.write('event: reset\ndata: {"missed":true,"replaced":true}\n\n')
    const after = isOther ? 0 : Number(number ?? -1)
    const there = this.entries.filter((entry) => wish.isWanted(entry) && entry.id > after)
    for (const entry of after < 0 ? there.slice(-wish.limit) : there) response.write(this.#eventOf(entry))
    this.#followers.set(response, wish.isWanted)
    response.on('close', () => this.#followers.delete(response))
  }

  /** Ends its log for all who follow: the agent was removed. */
  endLog(): void {
    const end: AgentLogRemoved = { reason: 'agent_removed' }
    for (const follower of this.#followers.keys()) {
      follower.end(`event: end\ndata: ${JSON.stringify(end)}\n\n`)
    }
  }

  /** Cuts all who follow off, as a network does. */
  cut(): void {
    for (const follower of this.#followers.keys()) follower.destroy()
  }

  get #mark(): string {
    return this.id.slice(0, 8)
  }

  #eventOf(entry: AgentLogEntry): string {
    return `id: ${entry.id}-${this.#mark}\ndata: ${JSON.stringify(entry)}\n\n`
  }

  get details(): AgentDetails {
    const active = this.deployments.find(({ phase }) => phase === 'Active')
    const { newest } = this
    const isDecided = newest.phase !== 'Creating' && newest.phase !== 'Validating'
    const updatedAt = newest.updatedAt
    return agentDetails.parse({
      ...{ id: this.id, name: this.name, region: this.region, organizationId: this.organizationId },
      ...{
        ready: newest.phase === 'Active' && !this.isDown,
        available: active !== undefined && !this.isDown,
      },
      ...{ createdAt: this.createdAt, updatedAt, desiredDeploymentId: newest.id },
      activeDeploymentId: active?.id ?? null,
      reconciledDeploymentId: isDecided ? newest.id : (active?.id ?? null),
      activeDeploymentReady: active !== undefined,
      autoScaling: this.scaling,
      activeSessionCount: this.sessions.filter(({ state }) => state !== 'ended').length,
      ...{ agentProfile: newest.agentProfile, noiseFilter: newest.noiseFilter, deployment: newest },
      currentRevision: this.#revision(newest),
      previousRevision: active === undefined || active === newest ? null : this.#revision(active),
      ...{ instances: [], ...troubleOf(newest) },
    })
  }

  #revision({ id, number, phase, phaseStartedAt, failure }: DeploymentRecord): RevisionInfo {
    const ready = phase === 'Active'
    return {
      ...{ deploymentID: id, number, phase, readyReplicas: ready ? 1 : 0, phaseStartedAt },
      health: {
        ...{ ready, state: ready ? 'running' : 'waiting', restartCount: this.restarts, replicasStarted: 1 },
        ...{ reason: null, lastExitCode: failure?.exitCode ?? null, message: failure?.detail ?? null },
      },
    }
  }
}

/** A failure is told as an error and as a condition, as a real cloud does. */
function troubleOf({ failure }: DeploymentRecord): Pick<AgentDetails, 'errors' | 'conditions'> {
  if (failure === null) return { errors: [], conditions: [] }
  const { code, message } = failure
  return {
    errors: [{ code, message }],
    conditions: [{ type: 'Degraded', status: 'True', reason: code, message }],
  }
}
