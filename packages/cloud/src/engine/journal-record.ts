import type { InstanceInfo, JournalRecord, SessionView } from '@botcli/protocol'
import * as z from 'zod'

const STATES = ['waiting', 'connecting', 'active', 'ending', 'ended'] as const
const log = z.object({
  type: z.literal('log'),
  line: z.looseObject({
    time: z.string(),
    level: z.enum(['debug', 'info', 'warn', 'error']),
    msg: z.string(),
    sessionId: z.string().optional(),
    from: z.string().optional(),
  }),
})
const sessionView = z.looseObject({
  sessionId: z.string(),
  state: z.enum(STATES),
  createdAt: z.string(),
  connectedAt: z.string().optional(),
  endedAt: z.string().optional(),
  outcome: z
    .looseObject({ result: z.enum(['ok', 'failed']), cause: z.string(), message: z.string() })
    .optional(),
})
const instanceInfo = z.object({ instanceId: z.string(), pid: z.number(), sessions: z.array(z.unknown()) })
const session = z.object({ type: z.literal('session'), session: sessionView })
const lost = z.object({ type: z.literal('lost'), records: z.int().min(0) })
const journalRecord = z.discriminatedUnion('type', [log, session, lost])

/** A line of a journal as a record. What is none becomes a warning in the log: somebody may want to know what it said. */
export function recordOf(line: string, now: () => number): JournalRecord {
  const record = understood(line)
  if (record !== undefined) return record
  return {
    type: 'log',
    line: { time: new Date(now()).toISOString(), level: 'warn', msg: `not understood: ${line}` },
  }
}

/** A session as its instance tells it when it is asked; nothing if that is none. */
export function sessionViewOf(value: unknown): SessionView | undefined {
  return sessionView.safeParse(value).data as SessionView | undefined
}

/** What an instance tells of itself when it is asked; nothing if that is something else. A bot can sit on its socket. */
export function instanceInfoOf(value: unknown): InstanceInfo | undefined {
  const info = instanceInfo.safeParse(value).data
  return info && { ...info, sessions: info.sessions.flatMap((one) => sessionViewOf(one) ?? []) }
}

/** Whatever goes wrong with a line costs that line only. */
function understood(line: string): JournalRecord | undefined {
  try {
    return journalRecord.safeParse(JSON.parse(line)).data as JournalRecord | undefined
  } catch {
    return undefined
  }
}
