/** What an instance is started for. */
export type StartReason = 'reserve' | 'caller' | 'deployment'

/** What somebody waits for, so that others have to make room for it. */
export type UrgentReason = Exclude<StartReason, 'reserve'>

/** A tenant of the machine. */
export interface Tenant {
  /** How many instances it has, or is about to have. */
  readonly size: number
  /** How many of them are being stopped. */
  readonly leaving: number
  /** How many of the others nobody needs now. */
  readonly spare: number
  /** Stops such an instance, for what another one needs its place for. */
  yieldIdle(why: UrgentReason): void
  /** Looks again at what is wanted. */
  wake(): void
}

/** How many instances a machine holds, and who gets the next place. */
export class MachineRoom {
  /** Instances of all agents together. */
  readonly #maxInstances: number
  readonly #tenants = new Set<Tenant>()
  /** Who waits for a place, the first one first. What becomes free is theirs: also a place that somebody has given up for another one. */
  readonly #waiting = new Set<Tenant>()
  /** Who has one instance too many, and how many it has without it. */
  #extra: { readonly tenant: Tenant; size: number } | undefined

  constructor(maxInstances: number) {
    this.#maxInstances = maxInstances
  }

  add(tenant: Tenant): void {
    this.#tenants.add(tenant)
  }

  remove(tenant: Tenant): void {
    this.#tenants.delete(tenant)
    if (this.#extra?.tenant === tenant) this.#extra = undefined
    this.leave(tenant)
  }

  /** A tenant replaces an instance, as an earlier process has let it: if that is one too many, it is so still. */
  rejoin(tenant: Tenant): void {
    if (this.#extra === undefined && this.#free < 0) this.#extra = { tenant, size: tenant.size - 1 }
  }

  /** Whether there is room for so many instances that somebody waits for, or will be: because others stop, or can be made to. */
  hasRoom(tenant: Tenant | undefined, instances = 1): boolean {
    // Each of the others that wait gets a place before one gets its second.
    const others = this.#waiting.size - (tenant && this.#waiting.has(tenant) ? 1 : 0)
    const before = instances > 1 ? others : this.#before(tenant)
    return this.#coming - before + this.#spareOfOthers(tenant) >= instances
  }

  /**
   * Lets an instance be started, or not now: then the tenant is woken when it may. The first instance of a deployment may be one too many if
   * it replaces another one, so that an agent can be changed also when there is no room left; but there is only one such instance at a time
   * on the whole machine. Else others have to stop what they do not need, for a caller and for a deployment, which wait until that is gone.
   */
  enter(tenant: Tenant, why: StartReason): boolean {
    this.#forgetExtra()
    const isReplacement = why === 'deployment' && tenant.size > 0
    if (this.#free > this.#before(tenant)) {
      if (this.#extra?.tenant === tenant) this.#extra.size += 1
      this.#waiting.delete(tenant)
      return true
    }
    if (isReplacement && this.#free === 0 && this.#extra === undefined) {
      this.#extra = { tenant, size: tenant.size }
      this.#waiting.delete(tenant)
      return true
    }
    if (why === 'reserve') return false
    this.#waiting.add(tenant)
    // One that is being stopped already is enough, however often somebody asks.
    if (this.#coming <= this.#before(tenant)) this.#yielding(tenant)?.yieldIdle(why)
    return false
  }

  /** A tenant does not wait for a place, or not any more. */
  leave(tenant: Tenant): void {
    if (this.#waiting.delete(tenant)) this.notify()
  }

  /** A tenant can yield now: those who wait for a place may need that. */
  offer(tenant: Tenant): void {
    if (this.#waiting.size === 0 || this.#coming >= this.#waiting.size) return
    for (const other of this.#waiting) if (other !== tenant) other.wake()
  }

  /** There may be room now. */
  notify(): void {
    this.#forgetExtra()
    for (const tenant of this.#tenants) tenant.wake()
  }

  /** How many get a place before a tenant. */
  #before(tenant: Tenant | undefined): number {
    const place = tenant === undefined ? -1 : [...this.#waiting].indexOf(tenant)
    return place < 0 ? this.#waiting.size : place
  }

  /** The one too many is not so any more when it or what it replaces is gone. */
  #forgetExtra(): void {
    if (!this.#hasExtra) this.#extra = undefined
  }

  get #hasExtra(): boolean {
    return this.#extra !== undefined && this.#extra.tenant.size > this.#extra.size
  }

  #yielding(tenant: Tenant): Tenant | undefined {
    return [...this.#tenants].find((other) => other !== tenant && other.spare > 0)
  }

  #spareOfOthers(tenant: Tenant | undefined): number {
    return [...this.#tenants].reduce((sum, other) => sum + (other === tenant ? 0 : other.spare), 0)
  }

  /** The one too many takes nobody's place. */
  get #free(): number {
    const held = [...this.#tenants].reduce((sum, { size }) => sum + size, 0)
    return this.#maxInstances - held + (this.#hasExtra ? 1 : 0)
  }

  /** What is free, and will be as soon as those are gone that are being stopped. */
  get #coming(): number {
    const leaving = [...this.#tenants].reduce((sum, tenant) => sum + tenant.leaving, 0)
    // Whoever has one too many frees no place by the next one that goes.
    const isEnding = this.#hasExtra && this.#extra !== undefined && this.#extra.tenant.leaving > 0
    return this.#free + leaving - (isEnding ? 1 : 0)
  }
}
