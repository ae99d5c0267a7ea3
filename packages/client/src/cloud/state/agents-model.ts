import type { AgentListItem } from '@botcli/protocol/cloud'
import { batch, signal } from '@preact/signals'
import type { AgentsApi } from '../api/agents-api.ts'
import { messageOf } from '../api/api-error.ts'
import { isChanging } from './agent-words.ts'
import { Poller } from './poller.ts'

const BUSY_MS = 2_500
const QUIET_MS = 10_000

/** The list of agents, kept fresh. */
export class AgentsModel {
  readonly list = signal<readonly AgentListItem[] | undefined>(undefined)
  readonly problem = signal<string | undefined>(undefined)
  readonly #api: Pick<AgentsApi, 'list'>
  readonly #poller: Poller

  constructor(api: Pick<AgentsApi, 'list'>) {
    this.#api = api
    this.#poller = new Poller(
      () => this.#load(),
      () => (this.#isBusy() ? BUSY_MS : QUIET_MS),
    )
    void this.#poller.now()
  }

  close(): void {
    this.#poller.close()
  }

  #isBusy(): boolean {
    return this.list.value?.some((agent) => isChanging(agent) || agent.activeSessionCount > 0) ?? false
  }

  async #load(): Promise<void> {
    try {
      const list = await this.#api.list()
      batch(() => {
        this.list.value = list.toSorted((a, b) => (a.name < b.name ? -1 : 1))
        this.problem.value = undefined
      })
    } catch (error) {
      this.problem.value = messageOf(error)
    }
  }
}
