import { AGENT_LOG_LIMIT, type AgentDetails, type DeploymentRecord } from '@botcli/protocol/cloud'
import { findDeployment } from '../agent/deployment-id.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import type { Desk } from '../remote/desk.ts'
import { followAgentLog } from '../remote/follow-agent-log.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { realWait, type Wait } from '../remote/retry.ts'
import { RolloutReport } from './rollout-report.ts'

const STEP_MS = 500
/** For so long a cloud may be away. */
const PATIENCE_MS = 5 * 60_000
/** So often it is told that it still goes on. */
const TOLD_EVERY_MS = 20_000
const LOG_LIMIT = Math.min(1000, AGENT_LOG_LIMIT.max)

/** How a roll-out is followed. */
export interface RolloutOptions {
  /** For how long its end is waited for. */
  readonly limitMs: number
  readonly wait?: Wait
  readonly clock?: () => number
}

/** Follows a deployment: its log and its phase, until it takes sessions or will never do so. */
export class Rollout {
  readonly #client: CloudClient
  readonly #desk: Desk
  readonly #report: RolloutReport
  readonly #limitMs: number
  readonly #wait: Wait
  readonly #clock: () => number
  /** The newest entry that was shown. */
  #shown = -1

  constructor(client: CloudClient, desk: Desk, options: RolloutOptions) {
    this.#client = client
    this.#desk = desk
    this.#report = new RolloutReport(desk, client.url)
    this.#limitMs = options.limitMs
    this.#wait = options.wait ?? realWait
    this.#clock = options.clock ?? (() => performance.now())
  }

  /** Waits for the newest deployment of an agent, tells how it goes and what came of it, and gives the exit code. */
  async run(agent: AgentDetails): Promise<number> {
    this.#report.made(agent)
    return this.#follow(agent)
  }

  /** The same for one that was there before and is what was asked for. */
  async runUnchanged(agent: AgentDetails, what: string): Promise<number> {
    if (agent.deployment.phase === 'Active') return this.#report.unchanged(agent, what)
    this.#report.note(`${what} Deployment ${agent.deployment.number} of ${agent.name} is what was asked for.`)
    return this.#follow(agent)
  }

  async #follow(agent: AgentDetails): Promise<number> {
    const { name, deployment } = agent
    const startedAt = this.#clock()
    const leaving = new AbortController()
    const stop = () => leaving.abort()
    this.#desk.signal.addEventListener('abort', stop)
    const log = this.#showLog(name, deployment.id, leaving.signal)
    try {
      const end = await this.#decided(agent, startedAt)
      leaving.abort()
      await log
      await this.#showRest(name, deployment.id)
      return this.#report.end(end.agent, end.deployment, this.#clock() - startedAt)
    } catch (error) {
      if (this.#desk.signal.aborted) this.#report.left(name)
      throw error
    } finally {
      this.#desk.signal.removeEventListener('abort', stop)
      leaving.abort()
      await log
    }
  }

  /** The deployment once it is decided upon, or as it is when the time is up. */
  async #decided(first: AgentDetails, startedAt: number): Promise<End> {
    const { name, deployment } = first
    let now: End = { agent: first, deployment }
    let toldAt = startedAt
    let lostAt: number | undefined
    while (!isDecided(now.deployment) && this.#clock() - startedAt < this.#limitMs) {
      await this.#wait(STEP_MS, this.#desk.signal)
      try {
        now = await this.#look(name, deployment)
        lostAt = undefined
      } catch (error) {
        this.#desk.signal.throwIfAborted()
        lostAt ??= this.#clock()
        const isHopeless = this.#clock() - lostAt > PATIENCE_MS
        if (!(error instanceof RemoteError) || !error.isPassing || isHopeless) throw error
      }
      this.#report.progress(now.agent, now.deployment)
      if (this.#clock() - toldAt < TOLD_EVERY_MS) continue
      toldAt = this.#clock()
      this.#report.waiting(now.deployment, toldAt - startedAt)
    }
    return now
  }

  /** A later deployment may have come in between; then this one is found among those before. */
  async #look(name: string, { id }: DeploymentRecord): Promise<End> {
    const agent = await this.#client.agents.get(name)
    const deployment =
      agent.deployment.id === id ? agent.deployment : await findDeployment(this.#client, name, id)
    return { agent, deployment }
  }

  /** Shows the log as it comes up. A log that cannot be shown is no reason to give up. */
  async #showLog(name: string, deploymentId: string, signal: AbortSignal): Promise<void> {
    const filter = { deploymentId, limit: LOG_LIMIT }
    try {
      for await (const event of followAgentLog(this.#client, name, filter, { signal })) {
        if (event.type === 'entry') this.#shown = event.entry.id
        this.#report.log(event)
        await this.#desk.flushed()
      }
    } catch (error) {
      if (!signal.aborted) this.#tellUnshown(error)
    }
  }

  #tellUnshown(error: unknown): void {
    this.#desk.signal.throwIfAborted()
    if (!(error instanceof RemoteError)) throw error
    this.#report.note(`(the log cannot be shown: ${error.message})`)
  }

  /** What was written before the end was known, and did not come by the stream in time. */
  async #showRest(name: string, deploymentId: string): Promise<void> {
    const page = { deploymentId, limit: LOG_LIMIT, order: 'desc' } as const
    try {
      const { logs } = await this.#client.agents.logs(name, page)
      for (const entry of logs.toReversed()) {
        if (entry.id > this.#shown) this.#report.log({ type: 'entry', entry })
      }
    } catch (error) {
      this.#tellUnshown(error)
    }
  }
}

/** How things stand. */
interface End {
  readonly agent: AgentDetails
  readonly deployment: DeploymentRecord
}

function isDecided({ phase }: DeploymentRecord): boolean {
  return phase !== 'Creating' && phase !== 'Validating'
}
