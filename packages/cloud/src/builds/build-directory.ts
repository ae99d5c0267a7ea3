import { type BuildStatus, isFinal } from '@botcli/protocol/cloud'
import type { Store } from '../store/store.ts'

const MAX_FINAL = 10_000

/** Where a build stands now. */
export interface BuildStanding {
  readonly id: string
  readonly organizationId: string
  status: BuildStatus
}

/**
 * To whom builds belong and how they stand, for readers who ask often or wait. Standings of builds that are not over are kept and brought up
 * to date; of those that are over, the ones asked for last.
 */
export class BuildDirectory {
  readonly #store: Store
  readonly #open = new Map<string, BuildStanding>()
  readonly #over = new Map<string, BuildStanding>()

  constructor(store: Store) {
    this.#store = store
  }

  async find(organizationId: string, id: string): Promise<BuildStanding | undefined> {
    const known = this.#open.get(id) ?? this.#over.get(id)
    if (known) return known.organizationId === organizationId ? known : undefined
    const build = await this.#store.builds.get(organizationId, id)
    return build && this.note(build)
  }

  /** Takes in how a build stands. */
  note(build: Pick<BuildStanding, 'id' | 'organizationId' | 'status'>): BuildStanding {
    const { id, organizationId, status } = build
    const standing = this.#open.get(id) ?? this.#over.get(id) ?? { id, organizationId, status }
    // A reader that was slow must not bring back what is past.
    if (!isFinal(standing.status)) standing.status = status
    this.#open.delete(id)
    this.#over.delete(id)
    if (isFinal(standing.status)) this.#keepOver(standing)
    else this.#open.set(id, standing)
    return standing
  }

  forget(id: string): void {
    this.#open.delete(id)
    this.#over.delete(id)
  }

  #keepOver(standing: BuildStanding): void {
    if (this.#over.size >= MAX_FINAL) {
      for (const oldest of this.#over.keys()) {
        this.#over.delete(oldest)
        break
      }
    }
    this.#over.set(standing.id, standing)
  }
}
