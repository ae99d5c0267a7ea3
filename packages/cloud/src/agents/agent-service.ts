import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  AGENT_DEFAULTS,
  type AgentDetails,
  type AgentListItem,
  type CreateAgentRequest,
  type DeploymentListResponse,
  type DeploymentReason,
  type PromoteRequest,
  type RollbackRequest,
  type UpdateAgentRequest,
} from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import type { Clock, CloudLog } from '../log.ts'
import type { SettingsService } from '../settings/settings-service.ts'
import type { DeploymentConfig, StoredAgent, StoredDeployment } from '../store/agents.ts'
import type { Store } from '../store/store.ts'
import { agentDetailsOf, agentItemOf, deploymentRecordOf } from './agent-details.ts'
import type { BuildStory } from './build-story.ts'
import type { ConfigCheck } from './deployment-config.ts'
import type { Fleets } from './fleets.ts'
import { outdatedConfig } from './outdated-secrets.ts'
import { noAgent } from './place-refusal.ts'

const MAX_AGENTS = 1000
/** Earlier deployments among which the one to go back to is looked for. */
const MOST_EARLIER = 200

/** What a service needs. */
export interface AgentServiceOptions {
  readonly store: Store
  readonly fleets: Fleets
  readonly check: ConfigCheck
  readonly story: BuildStory
  readonly settings: SettingsService
  readonly log: CloudLog
  readonly clock: Clock
}

/** Agents and their deployments, as the API has them. */
export class AgentService {
  readonly #options: AgentServiceOptions
  /** Changes of one agent are made one after the other. */
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(options: AgentServiceOptions) {
    this.#options = options
  }

  /** Takes up again what an earlier process has left: its words, its instances, their sessions. */
  async open(): Promise<void> {
    const { store, story, fleets } = this.#options
    const agents = await store.agents.all()
    for (const agent of agents) await story.catchUp(agent)
    await fleets.open()
    await this.renewSecrets()
  }

  /** Deploys every agent again that is behind its secrets: because it could not be done when they changed, or what was to have them failed. */
  async renewSecrets(): Promise<void> {
    const { store } = this.#options
    for (const agent of await store.agents.all()) {
      const isBehind = agent.deletedAt === null && (await outdatedConfig(store, agent)) !== undefined
      if (isBehind) await this.#renewSecrets(agent.organizationId, agent.name)
    }
  }

  async create(organizationId: string, request: CreateAgentRequest): Promise<AgentDetails> {
    const { store, fleets, check, settings, clock } = this.#options
    const { serviceName: name, autoScaling = {} } = request
    const region =
      request.region === undefined
        ? await settings.defaultRegion(organizationId)
        : settings.region(request.region)
    return this.#inTurn(`${organizationId}/${name}`, async () => {
      const all = await store.agents.list(organizationId)
      if (all.some((agent) => agent.name === name)) throw taken(name)
      if (all.length >= MAX_AGENTS) {
        throw new CloudError('CONFLICT', `There are ${all.length} agents already. Remove one first.`)
      }
      const config = await check.configOf({ organizationId, region }, request)
      const {
        minAgents = AGENT_DEFAULTS.minAgents,
        maxAgents = Math.max(minAgents, AGENT_DEFAULTS.maxAgents),
      } = autoScaling
      checkScaling(minAgents, maxAgents)
      fleets.checkRoom()
      const at = clock()
      const [agentId, deploymentId] = [randomUUID(), randomUUID()]
      const agent: StoredAgent = {
        ...{ id: agentId, organizationId, name, region, minAgents, maxAgents },
        ...{ desiredDeploymentId: deploymentId, activeDeploymentId: null },
        ...{ createdAt: at, updatedAt: at, deletedAt: null },
      }
      const about = { reason: 'create', sourceDeploymentId: null, createdAt: at } as const
      // First of all, so that nobody sees an agent without it.
      const fleet = fleets.add(agent)
      const made = await store.agents
        .create(agent, { id: deploymentId, agentId, ...about, config })
        .catch((error: unknown) => {
          fleets.remove(agentId)
          throw error
        })
      if (!made) {
        fleets.remove(agentId)
        throw taken(name)
      }
      await this.#tell(agent, deploymentId, config, true)
      await fleet.rejoin()
      fleet.open()
      return this.#details(agent)
    })
  }

  async get(organizationId: string, name: string): Promise<AgentDetails> {
    return this.#details(await this.#agent(organizationId, name))
  }

  async list(
    organizationId: string,
    { region, includeActiveDeployment }: { region?: string | undefined; includeActiveDeployment: boolean },
  ): Promise<readonly AgentListItem[]> {
    const { store, fleets } = this.#options
    const agents = await store.agents.list(organizationId)
    const wanted = agents.filter((agent) => region === undefined || agent.region === region)
    return Promise.all(
      wanted.map(async (agent) => {
        const desired = await this.#desired(agent)
        const { view } = fleets.of(agent.id)
        const item = {
          ...agentItemOf(agent, desired, view),
          maxSessionCount: agent.maxAgents * desired.config.sessionsPerInstance,
          instanceCount: view.instances.length,
        }
        if (!includeActiveDeployment) return item
        const active = await store.agents.deployment(agent.id, agent.activeDeploymentId ?? '')
        return { ...item, deployment: active ? deploymentRecordOf(active) : null }
      }),
    )
  }

  /** Changes an agent. What is more than its scaling makes a new deployment, unless it is as it was. */
  async update(organizationId: string, name: string, request: UpdateAgentRequest): Promise<AgentDetails> {
    const { check } = this.#options
    return this.#change(organizationId, name, async (agent) => {
      const desired = await this.#desired(agent)
      const config = await check.configOf(agent, request, desired.config)
      const scaled = await this.#scale(agent, request.autoScaling)
      const isSame = isDeepStrictEqual(config, desired.config)
      const { autoScaling: _, forceRedeploy, ...wishes } = request
      // One that failed is tried again: what it lacked may be there now. Who only scales does not ask for that.
      const isRetry = desired.phase === 'Failed' && Object.keys(wishes).length > 0
      if (!isSame || forceRedeploy || isRetry) {
        return this.#deploy(scaled ?? agent, config, 'update')
      }
      const details = await this.#details(scaled ?? agent)
      if (scaled) return details
      const same =
        'Nothing has changed, so that there is no new deployment. To make one anyway: forceRedeploy.'
      return { ...details, warning: details.warning ?? same }
    })
  }

  /** New sessions are refused from now on; running ones go on. */
  async remove(organizationId: string, name: string): Promise<void> {
    const { store, fleets, clock } = this.#options
    await this.#change(organizationId, name, async (agent) => {
      const at = clock()
      await store.agents.remove(agent.id, at)
      fleets.of(agent.id).change({ ...fleets.of(agent.id).agent, deletedAt: at })
    })
  }

  async deployments(
    organizationId: string,
    name: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<DeploymentListResponse> {
    const agent = await this.#agent(organizationId, name)
    const { deployments, total } = await this.#options.store.agents.deployments(agent.id, page)
    return { deployments: deployments.map(deploymentRecordOf), total, ...page }
  }

  /** Runs what an earlier deployment ran, as it was configured then, with the secrets of today. */
  async rollback(
    organizationId: string,
    name: string,
    { deploymentId }: RollbackRequest,
  ): Promise<AgentDetails> {
    const { store, check } = this.#options
    return this.#change(organizationId, name, async (agent) => {
      const source = await this.#rollbackSource(agent, deploymentId)
      await check.check(organizationId, agent.region, source.config)
      const now = await store.agents.deployment(agent.id, agent.desiredDeploymentId)
      if (source.id === agent.activeDeploymentId && now?.id === source.id) {
        throw new CloudError('CONFLICT', `Deployment ${source.number} is the one that takes the sessions.`)
      }
      return this.#deploy(agent, source.config, 'rollback', source.id)
    })
  }

  /** Runs what another agent runs; all else stays as it is. */
  async promote(organizationId: string, name: string, request: PromoteRequest): Promise<AgentDetails> {
    const { store, check } = this.#options
    return this.#change(organizationId, name, async (agent) => {
      const from = await this.#agent(organizationId, request.fromAgent)
      if (from.id === agent.id)
        throw new CloudError('INVALID_REQUEST', 'fromAgent: it must be another agent.')
      const id = request.deploymentId ?? from.activeDeploymentId
      const source = id === null ? undefined : await store.agents.deployment(from.id, id)
      if (!source && request.deploymentId !== undefined) throw noDeployment(request.deploymentId)
      if (!source) throw new CloudError('DEPLOY-NOT-READY', `No deployment of ${from.name} is active.`)
      if (from.region !== agent.region) {
        throw new CloudError(
          'DEPLOY-REGION-MISMATCH',
          `${from.name} is in ${from.region}, and ${name} in ${agent.region}.`,
        )
      }
      const { config } = await this.#desired(agent)
      const { image, buildId } = source.config
      const promoted = { ...config, image, buildId }
      await check.check(organizationId, agent.region, promoted)
      return this.#deploy(agent, promoted, 'promote', source.id)
    })
  }

  /** A secret set may have other values now: agents that run with older ones are deployed again. */
  async secretsChanged(organizationId: string, setName: string): Promise<void> {
    const users = await this.#options.store.agents.users(organizationId, { secretSet: setName })
    for (const name of users) await this.#renewSecrets(organizationId, name)
  }

  /** Deploys an agent again if its secrets are newer than its deployment. What cannot be done now is tried again later. */
  async #renewSecrets(organizationId: string, name: string): Promise<void> {
    const { store, log } = this.#options
    try {
      await this.#change(organizationId, name, async (agent) => {
        const config = await outdatedConfig(store, agent)
        if (config) await this.#deploy(agent, config, 'secrets')
      })
    } catch (error) {
      log.warn('an agent could not be deployed with its new secrets', { agent: name, error })
    }
  }

  /** The agents that need a build. */
  async usersOfBuild(organizationId: string, buildId: string): Promise<readonly string[]> {
    return this.#options.store.agents.users(organizationId, { buildId })
  }

  async #deploy(
    agent: StoredAgent,
    config: DeploymentConfig,
    reason: DeploymentReason,
    sourceDeploymentId: string | null = null,
  ): Promise<AgentDetails> {
    const { store, fleets, clock } = this.#options
    const { id: agentId } = agent
    const isNew = config.buildId !== null && !(await store.agents.hasRun(agentId, config.buildId))
    const wanted = { id: randomUUID(), agentId, reason, sourceDeploymentId, config, createdAt: clock() }
    const made = await store.agents.deploy(wanted)
    await this.#tell(agent, made.id, config, isNew)
    const fleet = fleets.of(agentId)
    await fleet.deploy(made)
    return this.#details(fleet.agent)
  }

  async #tell(
    agent: StoredAgent,
    deploymentId: string,
    { buildId }: DeploymentConfig,
    isNew: boolean,
  ): Promise<void> {
    const { story, log } = this.#options
    if (buildId === null) return
    // A log that cannot be written now is no reason not to deploy.
    await story.tell(agent, deploymentId, buildId, isNew).catch((error: unknown) => {
      log.warn('the log of a build was not brought into that of its agent', { buildId, error })
    })
  }

  async #scale(
    agent: StoredAgent,
    wanted: UpdateAgentRequest['autoScaling'],
  ): Promise<StoredAgent | undefined> {
    const { store, fleets, clock } = this.#options
    const { minAgents = agent.minAgents, maxAgents = agent.maxAgents } = wanted ?? {}
    if (minAgents === agent.minAgents && maxAgents === agent.maxAgents) return undefined
    checkScaling(minAgents, maxAgents)
    const at = clock()
    await store.agents.setScaling(agent.id, minAgents, maxAgents, at)
    const fleet = fleets.of(agent.id)
    const scaled = { ...fleet.agent, minAgents, maxAgents, updatedAt: at }
    fleet.change(scaled)
    return scaled
  }

  async #rollbackSource(agent: StoredAgent, deploymentId: string | undefined): Promise<StoredDeployment> {
    const { store } = this.#options
    if (deploymentId !== undefined) {
      const wanted = await store.agents.deployment(agent.id, deploymentId)
      if (wanted) return wanted
      throw noDeployment(deploymentId)
    }
    // After a failed deployment, going back means to what takes the sessions now.
    const desired = await this.#desired(agent)
    if (agent.activeDeploymentId !== null && agent.activeDeploymentId !== desired.id) {
      const active = await store.agents.deployment(agent.id, agent.activeDeploymentId)
      if (active) return active
    }
    const earlier = await store.agents.activeBefore(agent.id, desired.number, MOST_EARLIER)
    const before = earlier.find(({ config }) => !isDeepStrictEqual(config, desired.config))
    if (before) return before
    throw new CloudError('CONFLICT', 'There is no earlier deployment that was active and was another one.')
  }

  async #agent(organizationId: string, name: string): Promise<StoredAgent> {
    const agent = await this.#options.store.agents.get(organizationId, name)
    if (!agent) throw noAgent(name)
    return agent
  }

  async #desired(agent: StoredAgent): Promise<StoredDeployment> {
    const found = await this.#options.store.agents.deployment(agent.id, agent.desiredDeploymentId)
    if (!found) throw new Error(`the agent ${agent.id} has no deployment`)
    return found
  }

  async #details(agent: StoredAgent): Promise<AgentDetails> {
    const { fleets } = this.#options
    const details = agentDetailsOf(agent, await this.#desired(agent), fleets.of(agent.id).view)
    const warning = scarcity(agent, fleets.maxInstances)
    return warning === undefined ? details : { ...details, warning }
  }

  async #change<T>(
    organizationId: string,
    name: string,
    work: (agent: StoredAgent) => Promise<T>,
  ): Promise<T> {
    return this.#inTurn(`${organizationId}/${name}`, async () =>
      work(await this.#agent(organizationId, name)),
    )
  }

  async #inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(key) ?? Promise.resolve()
    const mine = before.catch(() => {}).then(work)
    this.#turns.set(key, mine)
    try {
      return await mine
    } finally {
      if (this.#turns.get(key) === mine) this.#turns.delete(key)
    }
  }
}

function noDeployment(id: string): CloudError {
  return new CloudError('NOT_FOUND', `deploymentId: there is no deployment ${id}.`)
}

function taken(name: string): CloudError {
  return new CloudError(
    'CONFLICT',
    `serviceName: there is an agent ${name} already. Update it, or choose another name.`,
  )
}

/** That a minimum can never be reached; what else others need of the machine changes all the time. */
function scarcity({ name, minAgents }: StoredAgent, maxInstances: number): string | undefined {
  if (minAgents <= maxInstances) return undefined
  const most = maxInstances === 1 ? '1 instance' : `${maxInstances} instances`
  return `${name} will not have its ${minAgents} instances: the cloud has at most ${most} of all agents together (agents.maxInstances).`
}

function checkScaling(minAgents: number, maxAgents: number): void {
  if (minAgents <= maxAgents) return
  const message = `autoScaling: minAgents (${minAgents}) must not be larger than maxAgents (${maxAgents}).`
  throw new CloudError('INVALID_REQUEST', message)
}
