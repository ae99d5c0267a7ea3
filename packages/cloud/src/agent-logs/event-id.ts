const EVENT_ID = /^(\d{1,15})(?:-([0-9a-f]{8}))?$/
const MARK_LENGTH = 8

/** The id of an event: which entry it is, and of whose log. */
export interface EventId {
  readonly entry: number
  /** Stands for the agent; missing where somebody has only the number of an entry. */
  readonly mark: string | undefined
}

/** What stands for an agent in the ids of its events: a name may be that of another agent when a client comes back. */
export function markOf(agentId: string): string {
  return agentId.slice(0, MARK_LENGTH)
}

/** The id of the event of an entry. */
export function eventIdOf(agentId: string, entry: number): string {
  return `${entry}-${markOf(agentId)}`
}

/** Reads the id of an event, or the number of an entry; nothing if it is neither. */
export function parseEventId(text: string): EventId | undefined {
  const [, entry, mark] = EVENT_ID.exec(text) ?? []
  return entry === undefined ? undefined : { entry: Number(entry), mark }
}
