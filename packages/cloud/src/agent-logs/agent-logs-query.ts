import { AGENT_LOG_LIMIT, LOG_LEVELS, LOG_SOURCES } from '@botcli/protocol/cloud'
import * as z from 'zod'
import { QueryCheck } from '../api/checks.ts'
import { CloudError } from '../errors.ts'
import { decodeToken, encodeToken } from '../logs/log-token.ts'
import type { AgentLogFilter } from './agent-log-store.ts'

const id = z.guid().toLowerCase()
const seconds = z.number().min(0).max(100_000_000_000)

/** The query of `GET /v1/agents/{agentName}/logs`. */
export const agentLogsQuery = z.strictObject({
  limit: z
    .int()
    .min(AGENT_LOG_LIMIT.min)
    .max(AGENT_LOG_LIMIT.max)
    .default(AGENT_LOG_LIMIT.default)
    .describe('How many entries are given at most.'),
  offset: z
    .int()
    .min(0)
    .max(1_000_000_000)
    .optional()
    .describe('Leaves out so many. New entries shift it; cursor is not shifted.'),
  cursor: z
    .string()
    .max(200)
    .optional()
    .describe('The nextCursor of an answer of the same order: what comes after it.'),
  deploymentId: id.optional(),
  instanceId: id.optional(),
  sessionId: id.optional(),
  source: z.enum(LOG_SOURCES).optional().describe('Only the build, the starts, or the runs.'),
  level: z
    .enum(LOG_LEVELS)
    .optional()
    .describe('This level or a graver one. Entries without a level count as info.'),
  query: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .describe('Text that entries must contain, in any case of letters.'),
  order: z.enum(['asc', 'desc']).default('desc').describe('desc: the newest first.'),
  startTime: seconds.optional().describe('Unix time in seconds: not before it.'),
  endTime: seconds.optional().describe('Unix time in seconds: not after it.'),
})

const check = new QueryCheck(agentLogsQuery)

/** What a reader of a log wants. */
export interface LogsRequest {
  readonly filter: AgentLogFilter
  readonly limit: number
  readonly order: 'asc' | 'desc'
  readonly offset: number | undefined
  /** The entry in the cursor. */
  readonly after: number | undefined
}

/** Reads the query of a request for the log of an agent. */
export function parseLogsQuery(url: string, agentId: string): LogsRequest {
  const asked = check.check(queryOf(url)) as z.infer<typeof agentLogsQuery>
  const { limit, order, offset, cursor, startTime, endTime, ...filter } = asked
  if (cursor !== undefined && offset !== undefined) throw invalid('cursor and offset cannot both be given.')
  const after = cursor === undefined ? undefined : decodeToken(bindingOf(agentId, order), cursor)
  if (cursor !== undefined && after === undefined) {
    throw invalid(
      'cursor: it is malformed, or of another agent or order. Send it as an answer for this agent gave it, with the same order.',
    )
  }
  const times = { startTime: milliseconds(startTime), endTime: milliseconds(endTime) }
  return { filter: { ...filter, ...times }, limit, order, offset, after }
}

/** The session whose log a request is for, if it is for one; a request that is at fault is refused later. */
export function sessionAskedFor(url: string): string | undefined {
  return id.safeParse(queryOf(url).get('sessionId')).data
}

/** What stands for the entries after this one. */
export function cursorAfter(agentId: string, order: 'asc' | 'desc', entry: number): string {
  return encodeToken(bindingOf(agentId, order), entry)
}

/** A request that is at fault. */
export function invalid(message: string): CloudError {
  return new CloudError('INVALID_REQUEST', message)
}

function queryOf(url: string): URLSearchParams {
  const mark = url.indexOf('?')
  return new URLSearchParams(mark < 0 ? '' : url.slice(mark))
}

function bindingOf(agentId: string, order: 'asc' | 'desc'): string {
  return `${agentId} ${order}`
}

/** Whole milliseconds stay whole, which they would not always by multiplication alone. */
function milliseconds(given: number | undefined): number | undefined {
  return given === undefined ? undefined : Math.round(given * 1_000_000) / 1000
}
