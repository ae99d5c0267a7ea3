/** What an instance is started for. */
export type StartReason = 'reserve' | 'caller' | 'deployment'

/** A tenant of the machine. */
export interface Tenant {
  /** How many instances it has, or is about to have. */
  readonly size: number
  /** Whether it has an instance that nobody needs now. */
  readonly canYield: boolean
  /** Stops such an instance. */
  yieldIdle(): void
  /** Looks again at what is wanted. */
  wake(): void
}

/** How many instances a machine holds. */
export class MachineRoom {
  /** Instances of all agents together. */
  readonly #maxInstances: number
  readonly #tenants = new Set<Tenant>()

  constructor(maxInstances: number) {
    this.#maxInstances = maxInstances
  }

  add(tenant: Tenant): void {
    this.#tenants.add(tenant)
  }

  remove(tenant: Tenant): void {
    this.#tenants.delete(tenant)
  }

  /** Whether there is room for an instance that somebody waits for, or somebody else can make some. */
  hasRoom(tenant?: Tenant): boolean {
    return this.#free > 0 || this.#yielding(tenant) !== undefined
  }

  /**
   * Lets an instance be started, or not now: then the tenant is woken when it may. The first instance of a deployment may be one too many if
   * it replaces another one, so that an agent can be changed also when there is no room left; but there is only one such instance at a time
   * on the whole machine. Else others have to stop what they do not need, for a caller and for a deployment.
   */
  enter(tenant: Tenant, why: StartReason): boolean {
    const free = this.#free
    if (free > 0) return true
    if (why === 'reserve') return false
    if (why === 'deployment' && tenant.size > 0 && free === 0) return true
    const other = this.#yielding(tenant)
    other?.yieldIdle()
    return other !== undefined
  }

  /** There may be room now. */
  notify(): void {
    for (const tenant of this.#tenants) tenant.wake()
  }

  #yielding(tenant?: Tenant): Tenant | undefined {
    return [...this.#tenants].find((other) => other !== tenant && other.canYield)
  }

  get #free(): number {
    return this.#maxInstances - [...this.#tenants].reduce((sum, { size }) => sum + size, 0)
  }
}
