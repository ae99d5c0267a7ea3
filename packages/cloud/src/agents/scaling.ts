/** What decides how many instances there are. */
export interface Demand {
  readonly minAgents: number
  readonly maxAgents: number
  readonly sessionsPerInstance: number
  /** Sessions on these instances, and those that wait for a place. */
  readonly sessions: number
}

/**
 * How many instances are wanted: as many as the sessions take, and one more that is warm for the next caller as long as there are callers;
 * never fewer than the minimum, never more than the maximum.
 */
export function wantedInstances({ minAgents, maxAgents, sessionsPerInstance, sessions }: Demand): number {
  const taken = Math.ceil(sessions / sessionsPerInstance)
  const hasRoom = taken * sessionsPerInstance > sessions
  const warm = sessions > 0 && !hasRoom ? 1 : 0
  return Math.min(maxAgents, Math.max(minAgents, taken + warm))
}
