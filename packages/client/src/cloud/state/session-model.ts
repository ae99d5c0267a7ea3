import type { SessionRecord } from '@botcli/protocol/cloud'
import { batch, effect, signal } from '@preact/signals'
import type { AgentsApi } from '../api/agents-api.ts'
import { ApiError, messageOf } from '../api/api-error.ts'
import { AgentLogSource } from '../log/agent-log-source.ts'
import { LogModel } from '../log/log-model.ts'
import { Poller } from './poller.ts'

const BUSY_MS = 2_500
const QUIET_MS = 60_000
const MAX_LINES = 100_000

/** One session and its log. */
export class SessionModel {
  readonly agent: string
  readonly id: string
  readonly session = signal<SessionRecord | undefined>(undefined)
  /** The number of the deployment that it runs on, once it is known. */
  readonly deployment = signal<number | undefined>(undefined)
  readonly problem = signal<string | undefined>(undefined)
  readonly gone = signal(false)
  readonly log: LogModel

  readonly #api: AgentsApi
  readonly #poller: Poller
  readonly #unwatch: () => void

  constructor(api: AgentsApi, agent: string, id: string) {
    this.#api = api
    this.agent = agent
    this.id = id
    this.log = new LogModel(new AgentLogSource(api, agent, { sessionId: id }), {
      frame: (action) => requestAnimationFrame(action),
      max: MAX_LINES,
    })
    this.#poller = new Poller(
      () => this.#load(),
      () => (this.session.value?.state === 'ended' ? QUIET_MS : BUSY_MS),
    )
    void this.#poller.now()
    void this.log.open()
    this.#unwatch = effect(() => {
      if (this.log.end.value !== undefined) void this.#poller.now()
    })
  }

  /** Ends the session now. */
  async stop(): Promise<void> {
    try {
      await this.#api.stopSession(this.agent, this.id)
    } finally {
      await this.#load()
    }
  }

  close(): void {
    this.#unwatch()
    this.#poller.close()
    this.log.close()
  }

  async #load(): Promise<void> {
    try {
      const session = await this.#api.session(this.agent, this.id)
      batch(() => {
        this.session.value = session
        this.problem.value = undefined
      })
      if (this.deployment.peek() === undefined) await this.#findDeployment(session.deploymentId)
    } catch (error) {
      batch(() => {
        this.gone.value = error instanceof ApiError && (error.status === 404 || error.status === 400)
        this.problem.value = messageOf(error)
      })
    }
  }

  /** Records of sessions name deployments by id; people know them by number. */
  async #findDeployment(id: string): Promise<void> {
    const { deployments } = await this.#api.deployments(this.agent, 100)
    this.deployment.value = deployments.find((deployment) => deployment.id === id)?.number
  }
}
