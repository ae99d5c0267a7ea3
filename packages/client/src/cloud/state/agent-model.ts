import type { AgentDetails, DeploymentListResponse, DeploymentRecord } from '@botcli/protocol/cloud'
import { batch, computed, signal } from '@preact/signals'
import type { AgentsApi } from '../api/agents-api.ts'
import { ApiError, messageOf } from '../api/api-error.ts'
import { isChanging } from './agent-words.ts'
import { Poller } from './poller.ts'

const BUSY_MS = 2_500
const QUIET_MS = 10_000
const FEW_DEPLOYMENTS = 8
const MANY_DEPLOYMENTS = 100

type AgentCalls = Pick<AgentsApi, 'get' | 'deployments' | 'scale' | 'rollBack' | 'remove'>

/** One agent and its deployments, kept fresh. */
export class AgentModel {
  readonly name: string
  readonly agent = signal<AgentDetails | undefined>(undefined)
  readonly deployments = signal<DeploymentListResponse | undefined>(undefined)
  readonly problem = signal<string | undefined>(undefined)
  readonly gone = signal(false)
  /** The most sessions at the same time. */
  readonly maxSessions = computed(() => {
    const agent = this.agent.value
    return agent === undefined ? 0 : agent.autoScaling.maxReplicas * agent.deployment.sessionsPerInstance
  })

  readonly #api: AgentCalls
  readonly #poller: Poller
  #wanted = FEW_DEPLOYMENTS

  constructor(api: AgentCalls, name: string) {
    this.#api = api
    this.name = name
    this.#poller = new Poller(
      () => this.#load(),
      () => (this.#isBusy() ? BUSY_MS : QUIET_MS),
    )
    void this.#poller.now()
  }

  /** What a deployment is called, if it is among those that are here. */
  numberOf(deploymentId: string | null): string | undefined {
    const known = this.deployments.value?.deployments.find(({ id }) => id === deploymentId)
    return known === undefined ? undefined : `#${known.number}`
  }

  /** Shows older deployments, too. */
  showMore(): void {
    this.#wanted = MANY_DEPLOYMENTS
    void this.#poller.now()
  }

  async scale(minAgents: number, maxAgents: number): Promise<void> {
    await this.#api.scale(this.name, { minAgents, maxAgents })
    await this.#poller.now()
  }

  /** Makes a new deployment of what an earlier one ran. */
  async rollBackTo({ id }: DeploymentRecord): Promise<void> {
    await this.#api.rollBack(this.name, id)
    await this.#poller.now()
  }

  async remove(): Promise<void> {
    await this.#api.remove(this.name)
  }

  close(): void {
    this.#poller.close()
  }

  #isBusy(): boolean {
    const agent = this.agent.value
    return (
      agent !== undefined && (isChanging(agent) || agent.instances.some(({ state }) => state !== 'ready'))
    )
  }

  async #load(): Promise<void> {
    try {
      const [agent, deployments] = await Promise.all([
        this.#api.get(this.name),
        this.#api.deployments(this.name, this.#wanted),
      ])
      batch(() => {
        this.agent.value = agent
        this.deployments.value = deployments
        this.problem.value = undefined
        this.gone.value = false
      })
    } catch (error) {
      batch(() => {
        this.gone.value = error instanceof ApiError && (error.status === 404 || error.status === 400)
        this.problem.value = messageOf(error)
      })
    }
  }
}
