import { type AgentLogEntry, agentLogEntry, agentLogRemoved, agentLogReset } from '@botcli/protocol/cloud'
import type { AgentLogFilter } from './agents-api.ts'
import { readAnswer } from './answer.ts'
import type { CloudClient } from './cloud-client.ts'
import { jsonOf, resumedStream, type StreamOptions } from './resumed-stream.ts'

/** What happens while the log of an agent is followed. */
export type AgentLogEvent =
  | { readonly type: 'entry'; readonly entry: AgentLogEntry }
  /** Entries that came up while the connection was away are not kept any more. */
  | { readonly type: 'missed' }
  /** The agent was removed while the connection was away; what follows is the log of the one that has its name now. */
  | { readonly type: 'replaced' }
  /** The agent was removed, and its log with it. Nothing comes after this. */
  | { readonly type: 'removed' }
  | { readonly type: 'lost'; readonly reason: string }
  | { readonly type: 'resumed'; readonly afterMs: number }

/** Follows the log of an agent, each entry once and in order. It ends with its agent, or where it is the log of one session, with that session. */
export async function* followAgentLog(
  client: CloudClient,
  agent: string,
  filter: AgentLogFilter,
  options: StreamOptions,
): AsyncGenerator<AgentLogEvent, void> {
  let last = -1
  let lastEventId: string | undefined
  const { signal } = options
  const open = () => client.agents.openLog(agent, filter, { lastEventId, signal })
  for await (const one of resumedStream({ url: client.url, open }, options)) {
    if (one.type !== 'event') {
      yield one
      continue
    }
    const { type, id, data } = one.event
    if (type === 'end') {
      if (agentLogRemoved.safeParse(jsonOf(data)).success) yield { type: 'removed' }
      return
    }
    if (type === 'reset') {
      // Numbers that were shown may come again, for other entries.
      last = -1
      lastEventId = id
      yield { type: agentLogReset.safeParse(jsonOf(data)).data?.replaced ? 'replaced' : 'missed' }
    }
    // Also who has got nothing yet comes back to where this was.
    if (type === 'place') lastEventId = id
    if (type !== 'message') continue
    const entry = readAnswer(agentLogEntry, jsonOf(data), 'The cloud')
    // What was there before the connection broke is not shown twice.
    if (entry.id <= last) continue
    last = entry.id
    lastEventId = id
    yield { type: 'entry', entry }
  }
}
