import * as z from 'zod'
import { END_CAUSES, type EndCause } from '../sessions.ts'
import { sessionTransportSchema } from '../transports.ts'
import { time } from './fields.ts'

/** Every reason for which a session in the cloud can be over, and whether that is a failure. */
export const CLOUD_END_CAUSES = {
  ...END_CAUSES,
  instance_lost: 'failed',
  not_started: 'failed',
} as const satisfies Record<EndCause | 'instance_lost' | 'not_started', 'ok' | 'failed'>
export type CloudEndCause = keyof typeof CLOUD_END_CAUSES

/** How a session ended: the cause in one word, and in a sentence. */
export const sessionOutcome = z.strictObject({
  result: z.enum(['ok', 'failed']),
  cause: z.enum(Object.keys(CLOUD_END_CAUSES) as readonly CloudEndCause[]),
  message: z.string(),
})
export type CloudSessionOutcome = z.infer<typeof sessionOutcome>

/** A session as the API shows it. */
export const sessionRecord = z.strictObject({
  sessionId: z.uuid(),
  serviceId: z.uuid(),
  agentName: z.string(),
  organizationId: z.uuid(),
  /** The deployment that it runs on, from its first moment to its last. */
  deploymentId: z.uuid(),
  instanceId: z.uuid(),
  transport: sessionTransportSchema,
  /** `starting` until its caller is there, then `active`, and `ended` when it is over. */
  state: z.enum(['starting', 'active', 'ended']),
  createdAt: time,
  updatedAt: time,
  connectedAt: time.nullable(),
  endedAt: time.nullable(),
  /** From the caller's coming to the end, or until now. */
  durationSeconds: z.number().nullable(),
  /** How long the start took, from the request to the answer. */
  botStartSeconds: z.number().nullable(),
  /** Whether an instance had to be started for it. */
  coldStart: z.boolean(),
  /** The cause of the end, in one word. */
  completionStatus: z.string().nullable(),
  outcome: sessionOutcome.nullable(),
})
export type SessionRecord = z.infer<typeof sessionRecord>

/** Limits of the list of sessions. */
export const SESSION_LIST_LIMIT = { min: 1, max: 100, default: 10 } as const

/** A page of the sessions of an agent, the newest first. */
export const sessionListResponse = z.strictObject({
  total_count: z.int(),
  sessions: z.array(sessionRecord),
  nextCursor: z.string().optional(),
})
export type SessionListResponse = z.infer<typeof sessionListResponse>

/** A session that was stopped. */
export const stopSessionResponse = z.strictObject({
  status: z.literal('terminated'),
  session_id: z.uuid(),
  session: sessionRecord,
})
export type StopSessionResponse = z.infer<typeof stopSessionResponse>

/** What `POST /v1/public/{agentName}/start` answers; which fields are there depends on the transport. */
export const publicStartResponse = z.strictObject({
  sessionId: z.uuid(),
  /** `webrtc`, when `enableDefaultIceServers` is set. */
  iceConfig: z
    .strictObject({ iceServers: z.array(z.strictObject({ urls: z.array(z.string()) })) })
    .optional(),
  /** `websocket` and the carriers. It opens its session once. */
  wsUrl: z.string().optional(),
  /** `room`. */
  roomUrl: z.string().optional(),
  roomToken: z.string().optional(),
})
export type PublicStartResponse = z.infer<typeof publicStartResponse>
