import * as z from 'zod'
import { time } from './fields.ts'

/** Where a line of an agent's log comes from: its build, the start of an instance, or the run of it. */
export const LOG_SOURCES = ['build', 'start', 'run'] as const
/** How much a line matters. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogSource = (typeof LOG_SOURCES)[number]
export type AgentLogLevel = (typeof LOG_LEVELS)[number]

/** One entry of an agent's log. Its text may have several lines, such as a traceback. */
export const agentLogEntry = z.strictObject({
  /** Grows with every entry of the agent; a stream goes on after it. */
  id: z.int(),
  log: z.string(),
  timestamp: time,
  source: z.enum(LOG_SOURCES),
  level: z.enum(LOG_LEVELS).nullable(),
  deploymentId: z.uuid().nullable(),
  instanceId: z.uuid().nullable(),
  sessionId: z.uuid().nullable(),
})
export type AgentLogEntry = z.infer<typeof agentLogEntry>

/** Limits of a read of an agent's log. */
export const AGENT_LOG_LIMIT = { min: 1, max: 10_000, default: 10 } as const

/** A page of an agent's log. */
export const agentLogsResponse = z.strictObject({
  /** How many entries there are in all; `gte` when it was not counted further. */
  total: z.strictObject({ value: z.int(), relation: z.enum(['eq', 'gte']) }),
  logs: z.array(agentLogEntry),
  /** Sent back as `cursor`, it gives the entries after these in the same order. */
  nextCursor: z.string().optional(),
})
export type AgentLogsResponse = z.infer<typeof agentLogsResponse>

/** What the event `reset` of a stream says: what came after the last event that its client had is not all there any more. */
export const agentLogReset = z.object({
  missed: z.literal(true),
  /** That event was of another log: the agent was removed, and another one has its name. All that this one's log has follows. */
  replaced: z.boolean().optional(),
})
export type AgentLogReset = z.infer<typeof agentLogReset>

/** What the event `end` of a stream says where the log goes with its agent. At the end of a session it is the session's record. */
export const agentLogRemoved = z.object({ reason: z.literal('agent_removed') })
export type AgentLogRemoved = z.infer<typeof agentLogRemoved>
