import type { SessionListResponse, SessionRecord } from '@botcli/protocol/cloud'
import { batch, computed, signal } from '@preact/signals'
import type { AgentsApi } from '../api/agents-api.ts'
import { messageOf } from '../api/api-error.ts'
import type { SessionStatus } from './agent-route.ts'
import { Poller } from './poller.ts'

const PAGE = 20
const LARGEST_PAGE = 100
const BUSY_MS = 2_500
const QUIET_MS = 5_000

/** The sessions of an agent, the newest first: as many as one asked for, the first of them kept fresh. */
export class SessionsModel {
  readonly sessions = signal<readonly SessionRecord[] | undefined>(undefined)
  readonly total = signal(0)
  readonly problem = signal<string | undefined>(undefined)
  readonly loadingMore = signal(false)
  readonly #cursor = signal<string | undefined>(undefined)
  readonly hasMore = computed(() => this.#cursor.value !== undefined)

  readonly #api: Pick<AgentsApi, 'sessions'>
  readonly #agent: string
  readonly #status: SessionStatus | undefined
  readonly #poller: Poller

  constructor(api: Pick<AgentsApi, 'sessions'>, agent: string, status: SessionStatus | undefined) {
    this.#api = api
    this.#agent = agent
    this.#status = status
    this.#poller = new Poller(
      () => this.#refresh(),
      () => (this.#isBusy() ? BUSY_MS : QUIET_MS),
    )
    void this.#poller.now()
  }

  /** Gets the next older ones. */
  async more(): Promise<void> {
    const cursor = this.#cursor.peek()
    if (cursor === undefined || this.loadingMore.peek()) return
    this.loadingMore.value = true
    try {
      const page = await this.#page(PAGE, cursor)
      batch(() => {
        this.sessions.value = joined(this.sessions.peek() ?? [], page.sessions)
        this.#cursor.value = page.nextCursor
        this.total.value = page.total_count
      })
    } catch (error) {
      this.problem.value = messageOf(error)
    } finally {
      this.loadingMore.value = false
    }
  }

  refresh(): void {
    void this.#poller.now()
  }

  close(): void {
    this.#poller.close()
  }

  #isBusy(): boolean {
    return this.sessions.value?.some(({ state }) => state !== 'ended') ?? false
  }

  async #refresh(): Promise<void> {
    const held = this.sessions.peek() ?? []
    try {
      const page = await this.#page(Math.min(LARGEST_PAGE, Math.max(PAGE, held.length)), undefined)
      // Meanwhile more may have come.
      const now = this.sessions.peek() ?? []
      const older = olderThan(page.sessions, now)
      batch(() => {
        this.sessions.value = [...page.sessions, ...older]
        if (older.length === 0) this.#cursor.value = page.nextCursor
        this.total.value = page.total_count
        this.problem.value = undefined
      })
    } catch (error) {
      this.problem.value = messageOf(error)
    }
  }

  #page(limit: number, cursor: string | undefined): Promise<SessionListResponse> {
    return this.#api.sessions(this.#agent, { status: this.#status ?? 'all', limit, cursor })
  }
}

/** Those of the held ones that come after a fresh page. If the page is not full, there are none. */
function olderThan(
  fresh: readonly SessionRecord[],
  held: readonly SessionRecord[],
): readonly SessionRecord[] {
  const last = fresh.at(-1)
  const at = held.findIndex(({ sessionId }) => sessionId === last?.sessionId)
  return at < 0 ? [] : held.slice(at + 1)
}

function joined(held: readonly SessionRecord[], older: readonly SessionRecord[]): readonly SessionRecord[] {
  const known = new Set(held.map(({ sessionId }) => sessionId))
  return [...held, ...older.filter(({ sessionId }) => !known.has(sessionId))]
}
