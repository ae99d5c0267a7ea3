import type { AgentLogStore } from '../agent-logs/agent-log-store.ts'
import type { Clock } from '../log.ts'
import type { LogStore } from '../logs/log-store.ts'
import { parseLines } from '../logs/log-text.ts'
import type { StoredAgent, StoredDeployment } from '../store/agents.ts'
import type { Store } from '../store/store.ts'

/** Lines of a build that an agent's log takes over. */
const MAX_LINES = 1000

/** What the story of a build is made of. */
export interface BuildStoryOptions {
  readonly store: Store
  readonly buildLogs: LogStore
  readonly logs: AgentLogStore
  readonly clock: Clock
}

/** Brings the log of a build into the log of an agent that runs it, so that build, start and run are read in one place. */
export class BuildStory {
  readonly #options: BuildStoryOptions

  constructor(options: BuildStoryOptions) {
    this.#options = options
  }

  /** A deployment of a build was made. Its log is told once; after that, only which build it was. */
  async tell(agent: StoredAgent, deploymentId: string, buildId: string, isNew: boolean): Promise<void> {
    const { logs, clock } = this.#options
    // Not the time of the build: one that is older than entries are kept would be gone at once.
    const time = clock()
    const lines = isNew
      ? await this.#lines(buildId)
      : [`It runs build ${buildId}, which was deployed here before.`]
    const about = { level: null, deploymentId, instanceId: null, sessionId: null, source: 'build' } as const
    await logs.append(
      agent.id,
      lines.map((text) => ({ ...about, time, text })),
    )
  }

  /** Tells of deployments what a crash right after they were made has kept us from telling. */
  async catchUp(agent: StoredAgent): Promise<void> {
    const { store, logs } = this.#options
    for (const { id, number, phase, config } of await store.agents.openDeployments(agent.id)) {
      if (phase !== 'Creating' || config.buildId === null) continue
      const filter = { deploymentId: id, source: 'build' } as const
      const told = await logs.page(agent.id, filter, { limit: 1, order: 'asc', counted: false })
      if (told.entries.length > 0) continue
      await this.tell(agent, id, config.buildId, !(await this.#hasRunBefore(agent, number, config.buildId)))
    }
  }

  async #hasRunBefore(
    agent: StoredAgent,
    before: StoredDeployment['number'],
    buildId: string,
  ): Promise<boolean> {
    const { store } = this.#options
    const { deployments } = await store.agents.deployments(agent.id, { limit: before, offset: 0 })
    return deployments.some(({ number, config }) => number < before && config.buildId === buildId)
  }

  async #lines(buildId: string): Promise<readonly string[]> {
    const page = await this.#options.buildLogs.tail(buildId, MAX_LINES)
    const body = Buffer.alloc(page.bytes)
    await page.copyTo(body)
    const lines = parseLines(body)
    return page.first === 0
      ? lines
      : [`(${page.first} older lines are in the log of build ${buildId})`, ...lines]
  }
}
