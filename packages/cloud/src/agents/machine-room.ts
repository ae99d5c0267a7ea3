/** What an instance is started for. */
export type StartReason = 'reserve' | 'caller' | 'deployment'

/** A tenant of the machine. */
export interface Tenant {
  /** How many instances it has. */
  readonly size: number
  /** Whether it has an instance that nobody needs now. */
  readonly canYield: boolean
  /** Stops such an instance. */
  yieldIdle(): void
  /** Looks again at what is wanted. */
  wake(): void
}

/** What limits a room. */
export interface MachineRoomOptions {
  /** Instances of all agents together. */
  readonly maxInstances: number
  /** Instances that are started at the same time: each of them takes a processor for a while. */
  readonly maxStarting: number
}

/** How many instances a machine holds, and how many of them are being started. */
export class MachineRoom {
  readonly #options: MachineRoomOptions
  readonly #tenants = new Set<Tenant>()
  #starting = 0

  constructor(options: MachineRoomOptions) {
    this.#options = options
  }

  add(tenant: Tenant): void {
    this.#tenants.add(tenant)
  }

  remove(tenant: Tenant): void {
    this.#tenants.delete(tenant)
  }

  /** Whether there is room for an instance that a caller waits for, or somebody else can make some. */
  hasRoom(tenant: Tenant): boolean {
    return !this.#isFull || this.#yielding(tenant) !== undefined
  }

  /**
   * Lets an instance be started, or not now: then the tenant is woken when it may. For a caller others have to stop what they do not need;
   * the first instance of a deployment may be one too many, so that an agent can be changed also when there is no room left.
   */
  enter(tenant: Tenant, why: StartReason): boolean {
    if (this.#starting >= this.#options.maxStarting) return false
    if (this.#isFull && why === 'reserve') return false
    if (this.#isFull && why === 'caller') {
      const other = this.#yielding(tenant)
      if (!other) return false
      other.yieldIdle()
    }
    this.#starting += 1
    return true
  }

  /** What was being started is there, or came to nothing. */
  leave(): void {
    this.#starting -= 1
    this.notify()
  }

  /** There may be room now. */
  notify(): void {
    for (const tenant of this.#tenants) tenant.wake()
  }

  #yielding(tenant: Tenant): Tenant | undefined {
    return [...this.#tenants].find((other) => other !== tenant && other.canYield)
  }

  get #isFull(): boolean {
    const { maxInstances } = this.#options
    return [...this.#tenants].reduce((sum, { size }) => sum + size, 0) >= maxInstances
  }
}
