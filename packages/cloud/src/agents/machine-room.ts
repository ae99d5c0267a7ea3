/** A tenant of the machine. */
export interface Tenant {
  /** How many instances it has. */
  readonly size: number
  /** Stops an instance that nobody needs now; false if there is none. */
  yieldIdle(): boolean
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

  /** Whether there is room for another instance, or somebody else can make some. */
  hasRoom(tenant: Tenant): boolean {
    return !this.#isFull || [...this.#tenants].some((other) => other !== tenant && other.yieldIdle())
  }

  /** Lets an instance be started, or not now: then the tenant is woken when it may. An urgent one only waits for its turn. */
  enter(tenant: Tenant, isUrgent: boolean): boolean {
    if (this.#starting >= this.#options.maxStarting) return false
    if (!isUrgent && this.#isFull && !this.hasRoom(tenant)) return false
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

  get #isFull(): boolean {
    const { maxInstances } = this.#options
    return [...this.#tenants].reduce((sum, { size }) => sum + size, 0) >= maxInstances
  }
}
