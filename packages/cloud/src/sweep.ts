import type { AgentLogStore } from './agent-logs/agent-log-store.ts'
import type { AgentService } from './agents/agent-service.ts'
import type { UploadService } from './builds/uploads/upload-service.ts'
import type { CloudConfig } from './config.ts'
import type { Clock, CloudLog } from './log.ts'
import type { Store } from './store/store.ts'

const SWEEP_MS = 60_000
const DAY_MS = 24 * 60 * 60_000

/** What a sweep goes over. */
export interface SweepOptions {
  readonly uploads: UploadService
  readonly agentLogs: AgentLogStore
  readonly store: Store
  readonly agents: AgentService
  readonly config: CloudConfig['agents']
  /** How often; every minute by default. */
  readonly everyMs?: number | undefined
  readonly log: CloudLog
  readonly clock: Clock
}

/** Removes what has become too old, and brings new secrets to agents that could not have them before, again and again. */
export class Sweep {
  readonly #options: SweepOptions
  readonly #timer: NodeJS.Timeout

  constructor(options: SweepOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.#sweep(), options.everyMs ?? SWEEP_MS)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #sweep(): Promise<void> {
    const { uploads, agentLogs, store, agents, config, log, clock } = this.#options
    const now = clock()
    const before = now - config.logDays * DAY_MS
    const work = {
      uploads: () => uploads.sweep(),
      logs: () => agentLogs.prune(now),
      sessions: () => store.sessions.prune(before),
      agents: () => store.agents.prune(before),
      secrets: () => store.secrets.pruneFormer(),
    }
    for (const [what, remove] of Object.entries(work)) {
      await remove().catch((error: unknown) => log.warn('something old was not removed', { what, error }))
    }
    await agents.renewSecrets().catch((error: unknown) => {
      log.warn('whether agents have their newest secrets could not be seen', { error })
    })
  }
}
