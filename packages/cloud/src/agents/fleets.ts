import type { StoredAgent } from '../store/agents.ts'
import { Fleet, type FleetOptions } from './fleet.ts'

/** The fleets of all agents. */
export class Fleets {
  readonly #options: Omit<FleetOptions, 'onEmpty'>
  /** As many as there are agents. */
  readonly #fleets = new Map<string, Fleet>()

  constructor(options: Omit<FleetOptions, 'onEmpty'>) {
    this.#options = options
  }

  /** Opens the fleets of all agents that are there, and finds their instances again. */
  async open(): Promise<void> {
    const { store, host } = this.#options
    const agents = await store.agents.all()
    const instances = await Promise.all(agents.map(({ id }) => store.agents.openInstances(id)))
    await host.removeLeftovers(new Set(instances.flat().map(({ id }) => id)))
    await Promise.all(agents.map((agent) => this.add(agent)))
  }

  async add(agent: StoredAgent): Promise<Fleet> {
    const { room } = this.#options
    const fleet = await Fleet.open(agent, { ...this.#options, onEmpty: (agentId) => this.#forget(agentId) })
    this.#fleets.set(agent.id, fleet)
    room.add(fleet)
    return fleet
  }

  /** The fleet of an agent; every agent that is there has one. */
  of(agentId: string): Fleet {
    const fleet = this.#fleets.get(agentId)
    if (!fleet) throw new Error(`there is no fleet for the agent ${agentId}`)
    return fleet
  }

  /** Sessions of all agents. */
  get sessions(): number {
    return [...this.#fleets.values()].reduce((sum, { sessions }) => sum + sessions, 0)
  }

  /** Instances of all agents. */
  get instances(): number {
    return [...this.#fleets.values()].reduce((sum, { size }) => sum + size, 0)
  }

  /** Lets go of all instances; they go on. */
  async close(): Promise<void> {
    await Promise.all([...this.#fleets.values()].map((fleet) => fleet.close()))
  }

  /** Ends all instances. */
  async end(graceMs: number): Promise<void> {
    await Promise.all([...this.#fleets.values()].map((fleet) => fleet.end(graceMs)))
  }

  #forget(agentId: string): void {
    const { logs, log, room } = this.#options
    const fleet = this.#fleets.get(agentId)
    if (!fleet) return
    this.#fleets.delete(agentId)
    room.remove(fleet)
    logs.remove(agentId).catch((error: unknown) => {
      log.warn('the log of a removed agent was not removed', { agentId, error })
    })
  }
}
