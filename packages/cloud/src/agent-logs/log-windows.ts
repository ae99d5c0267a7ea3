import type { AgentLogPage, AgentLogStore } from './agent-log-store.ts'
import type { LogsRequest } from './agent-logs-query.ts'

/** Entries that are held in memory for one reader. */
const WINDOW_ENTRIES = 500

/** What a reader wants, a part at a time; there is at least one part. Only the first of them says how many there are in all. */
export async function* windowsOf(
  logs: AgentLogStore,
  agentId: string,
  { filter, limit, order, offset, after }: LogsRequest,
  isCounted: boolean,
): AsyncGenerator<AgentLogPage> {
  let window = { order, offset, after, counted: isCounted }
  let left = limit
  for (;;) {
    const page = await logs.page(agentId, filter, { ...window, limit: Math.min(left, WINDOW_ENTRIES) })
    left -= page.entries.length
    yield page
    if (!page.hasMore || left === 0) return
    window = { order, offset: 0, after: page.entries.at(-1)?.id, counted: false }
  }
}

/** The same entries, the oldest first whatever the order in which they were picked. */
export async function* oldestFirst(
  logs: AgentLogStore,
  agentId: string,
  request: LogsRequest,
): AsyncGenerator<AgentLogPage> {
  if (request.order === 'asc') {
    yield* windowsOf(logs, agentId, request, false)
    return
  }
  if (request.limit <= WINDOW_ENTRIES) {
    for await (const page of windowsOf(logs, agentId, request, false)) {
      yield { ...page, entries: page.entries.toReversed() }
    }
    return
  }
  // They are read twice, so that they need not all be held.
  let count = 0
  let newest = 0
  let oldest = 0
  for await (const { entries } of windowsOf(logs, agentId, request, false)) {
    if (count === 0) newest = entries[0]?.id ?? 0
    oldest = entries.at(-1)?.id ?? oldest
    count += entries.length
  }
  if (count === 0) return
  const again: LogsRequest = { ...request, order: 'asc', limit: count, offset: 0, after: oldest - 1 }
  for await (const page of windowsOf(logs, agentId, again, false)) {
    // Some may have been pruned meanwhile, and then newer ones come in their place.
    yield { ...page, entries: page.entries.filter(({ id }) => id <= newest) }
  }
}
