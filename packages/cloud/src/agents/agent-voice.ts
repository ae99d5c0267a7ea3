import type { AgentLogLevel } from '@botcli/protocol/cloud'
import type { AgentLogStore } from '../agent-logs/agent-log-store.ts'
import type { Clock, CloudLog } from '../log.ts'

/** What the control plane itself says in the log of an agent. */
export class AgentVoice {
  readonly #agentId: string
  readonly #logs: AgentLogStore
  readonly #log: CloudLog
  readonly #clock: Clock

  constructor(agentId: string, logs: AgentLogStore, log: CloudLog, clock: Clock) {
    this.#agentId = agentId
    this.#logs = logs
    this.#log = log
    this.#clock = clock
  }

  /** Says something about a deployment. */
  say(
    deploymentId: string,
    text: string,
    { level = 'info', instanceId = null }: { level?: AgentLogLevel; instanceId?: string | null } = {},
  ): void {
    const about = { source: 'start', deploymentId, instanceId, sessionId: null } as const
    this.#logs
      .append(this.#agentId, [{ time: this.#clock(), level, text, ...about }])
      .catch((error: unknown) => {
        this.#log.warn('the log of an agent could not be written', { agentId: this.#agentId, error })
      })
  }
}
