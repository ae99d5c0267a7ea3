import type { BuildListResponse, BuildStatus } from '@botcli/protocol/cloud'
import { batch, computed, signal } from '@preact/signals'
import { messageOf } from '../api/api-error.ts'
import type { CloudApi } from '../api/cloud-api.ts'
import { Poller } from './poller.ts'
import { isOver } from './words.ts'

const PAGE = 20
const BUSY_MS = 2_500
const QUIET_MS = 15_000

/** One page of the list of builds, kept fresh. */
export class BuildsModel {
  readonly list = signal<BuildListResponse | undefined>(undefined)
  readonly problem = signal<string | undefined>(undefined)
  /** The cursors that led to this page; none on the first one. */
  readonly #cursors = signal<readonly string[]>([])
  readonly hasNewer = computed(() => this.#cursors.value.length > 0)
  readonly hasOlder = computed(() => this.list.value?.nextCursor !== undefined)
  readonly firstShown = computed(() => this.#cursors.value.length * PAGE + 1)

  readonly #api: CloudApi
  readonly #status: BuildStatus | undefined
  readonly #poller: Poller

  constructor(api: CloudApi, status: BuildStatus | undefined) {
    this.#api = api
    this.#status = status
    this.#poller = new Poller(
      () => this.#load(),
      () => (this.#isBusy() ? BUSY_MS : QUIET_MS),
    )
    void this.#poller.now()
  }

  older(): void {
    const cursor = this.list.value?.nextCursor
    if (cursor !== undefined) this.#go([...this.#cursors.value, cursor])
  }

  newer(): void {
    this.#go(this.#cursors.value.slice(0, -1))
  }

  refresh(): void {
    void this.#poller.now()
  }

  close(): void {
    this.#poller.close()
  }

  #go(cursors: readonly string[]): void {
    this.#cursors.value = cursors
    this.refresh()
  }

  #isBusy(): boolean {
    return this.list.value?.builds.some(({ status }) => !isOver(status)) ?? false
  }

  async #load(): Promise<void> {
    const cursors = this.#cursors.value
    try {
      const list = await this.#api.builds({ status: this.#status, cursor: cursors.at(-1), limit: PAGE })
      if (cursors !== this.#cursors.value) return
      batch(() => {
        this.list.value = list
        this.problem.value = undefined
      })
    } catch (error) {
      this.problem.value = messageOf(error)
    }
  }
}
