import { CloudError } from '../errors.ts'
import type { StoredAgent } from '../store/agents.ts'
import { Fleet, type FleetOptions } from './fleet.ts'
import { machineFull, stopping } from './place-refusal.ts'

/** The fleets of all agents. */
export class Fleets {
  readonly #options: Omit<FleetOptions, 'onEmpty'>
  /** As many as there are agents. */
  readonly #fleets = new Map<string, Fleet>()
  #isClosed = false

  constructor(options: Omit<FleetOptions, 'onEmpty'>) {
    this.#options = options
  }

  /** Opens the fleets of all agents that are there, and finds their instances again. */
  async open(): Promise<void> {
    const { store, host, logs, room, log } = this.#options
    const agents = await store.agents.all()
    logs.removeOthers(new Set(agents.map(({ id }) => id))).catch((error: unknown) => {
      log.warn('the logs of removed agents were not removed', { error })
    })
    const instances = await Promise.all(agents.map(({ id }) => store.agents.openInstances(id)))
    await host.removeLeftovers(new Set(instances.flat().map(({ id }) => id)))
    const fleets = agents.map((agent) => this.add(agent))
    await Promise.all(fleets.map((fleet) => fleet.rejoin()))
    for (const fleet of fleets) if (fleet.isReplacing) room.rejoin(fleet)
    // Not before all are found: else somebody would take a place that is taken.
    for (const fleet of fleets) fleet.open()
  }

  /** Refuses another agent where there is no place for an instance of it. */
  checkRoom(): void {
    if (this.#isClosed) throw stopping()
    if (!this.#options.room.hasRoom(undefined)) throw machineFull(this.#options.config.maxInstances)
  }

  /** Makes the fleet of an agent. It does nothing before it is opened, or its first deployment comes. */
  add(agent: StoredAgent): Fleet {
    const fleet = new Fleet(agent, { ...this.#options, onEmpty: (agentId) => this.#forget(agentId) })
    this.#fleets.set(agent.id, fleet)
    this.#options.room.add(fleet)
    // Of an agent that is made in the last moment: it is written down, and the next start of the cloud goes on with it.
    if (this.#isClosed) void fleet.close()
    return fleet
  }

  /** An agent has come to nothing. */
  remove(agentId: string): void {
    const fleet = this.#fleets.get(agentId)
    this.#fleets.delete(agentId)
    if (fleet) this.#options.room.remove(fleet)
  }

  /** Whether an agent is there, or was removed and something is left of it. */
  has(agentId: string): boolean {
    return this.#fleets.has(agentId)
  }

  /** The fleet of an agent. One that is not there was removed a moment ago. */
  of(agentId: string): Fleet {
    const fleet = this.#fleets.get(agentId)
    if (!fleet) throw new CloudError('NOT_FOUND', 'There is no such agent any more.')
    return fleet
  }

  /** How many instances there may be, of all agents together. */
  get maxInstances(): number {
    return this.#options.config.maxInstances
  }

  /** Sessions of all agents. */
  get sessions(): number {
    return [...this.#fleets.values()].reduce((sum, { sessions }) => sum + sessions, 0)
  }

  /** Instances of all agents that are there: what is only being fetched is none yet. */
  get instances(): number {
    return [...this.#fleets.values()].reduce((sum, { view }) => sum + view.instances.length, 0)
  }

  /** Lets go of all instances; they go on. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#fleets.values()].map((fleet) => fleet.close()))
  }

  /** Ends all instances. */
  async end(graceMs: number): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#fleets.values()].map((fleet) => fleet.end(graceMs)))
  }

  #forget(agentId: string): void {
    const { logs, log } = this.#options
    if (!this.#fleets.has(agentId)) return
    this.remove(agentId)
    logs.remove(agentId).catch((error: unknown) => {
      log.warn('the log of a removed agent was not removed', { agentId, error })
    })
  }
}
