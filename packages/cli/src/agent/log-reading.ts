import type { AgentLogFilter } from '../remote/agents-api.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import type { Desk } from '../remote/desk.ts'
import { followAgentLog } from '../remote/follow-agent-log.ts'
import { type EntryManner, entryLines, showLogEvent } from './log-view.ts'

/** What may wait for a slow reader. */
const MAX_WAITING = 1024 * 1024

/** What of whose log is wanted. */
export interface LogWish {
  readonly client: CloudClient
  readonly agent: string
  readonly filter: AgentLogFilter & { readonly limit: number }
  readonly manner: EntryManner
}

/** Shows the newest entries, the oldest of them first. */
export async function showLog({ client, agent, filter, manner }: LogWish, desk: Desk): Promise<void> {
  const { logs, total, nextCursor } = await client.agents.logs(agent, { ...filter, order: 'desc' })
  const entries = logs.toReversed()
  desk.print({ logs: entries, complete: nextCursor === undefined, total })
  for (const entry of entries) {
    for (const line of entryLines(entry, desk.paint, manner)) desk.say(line)
  }
  if (desk.json) return
  if (entries.length === 0) desk.note('(there is nothing of that in the log)')
  const rest = total.value - entries.length
  if (nextCursor !== undefined && rest > 0) {
    desk.note(`(${total.relation === 'gte' ? 'more than ' : ''}${rest} older: -n shows more of them)`)
  }
}

/** Shows entries as they come up. It ends with the agent, or where the log is that of one session, with it; else somebody has to leave. */
export async function followLog(
  { client, agent, filter, manner }: LogWish,
  desk: Desk,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of followAgentLog(client, agent, filter, { signal })) {
    showLogEvent(event, desk, manner)
    await desk.flushed(MAX_WAITING)
  }
}
