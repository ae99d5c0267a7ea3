import type { AgentLogEntry } from '@botcli/protocol/cloud'
import { STREAM_START } from '../logs/log-events.ts'
import type { StoredLogEntry } from './agent-log-store.ts'
import { eventIdOf } from './event-id.ts'

const SHORT_ID = 8
const LEVEL_WIDTH = 5
const INDENT = '    '
/** The last moment that a date can have. */
const MAX_TIME = 8.64e15

/** An entry as the API shows it. */
export function wireEntry({ id, text, time, ...others }: StoredLogEntry): AgentLogEntry {
  const { source, level, deploymentId, instanceId, sessionId } = others
  return { id, log: text, timestamp: timestampOf(time), source, level, deploymentId, instanceId, sessionId }
}

/** An entry for people: time, level, session, text. More lines of the text are indented. */
export function textOf({ time, level, sessionId, text }: StoredLogEntry): string {
  const session = (sessionId ?? '-').slice(0, SHORT_ID).padEnd(SHORT_ID)
  const shown = text.replaceAll('\n', `\n${INDENT}`)
  return `${timestampOf(time)} ${(level ?? '-').padEnd(LEVEL_WIDTH)} ${session} ${shown}\n`
}

/** An entry of an agent's log as an event. */
export function eventOf(agentId: string, entry: StoredLogEntry): string {
  return `id: ${eventIdOf(agentId, entry.id)}\ndata: ${JSON.stringify(wireEntry(entry))}\n\n`
}

/** The beginning of a stream. It says where it is, so that one who gets nothing more comes back to that log, too. */
export function startOf(agentId: string, after: number): string {
  return `id: ${eventIdOf(agentId, after)}\n${STREAM_START}`
}

/** An event that is no entry. */
export function noticeOf(event: 'reset' | 'end', data: object): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}

function timestampOf(time: number): string {
  return new Date(Math.min(Math.max(time, 0), MAX_TIME)).toISOString()
}
