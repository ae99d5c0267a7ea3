import type { SessionTransport } from '@botcli/protocol'
import type { CloudSessionOutcome } from '@botcli/protocol/cloud'
import type { Time } from './store.ts'

/** One session of an agent. */
export interface StoredSession {
  readonly id: string
  readonly organizationId: string
  readonly agentId: string
  readonly agentName: string
  readonly deploymentId: string
  readonly instanceId: string
  readonly transport: SessionTransport
  readonly state: 'starting' | 'active' | 'ended'
  readonly coldStart: boolean
  /** From the request to the answer; there once it was answered. */
  readonly startMs: number | null
  /** Whether somebody has come with its token. */
  readonly tokenUsed: boolean
  readonly outcome: CloudSessionOutcome | null
  readonly createdAt: Time
  readonly updatedAt: Time
  readonly connectedAt: Time | null
  readonly endedAt: Time | null
}

/** Which sessions are wanted. */
export interface SessionFilter {
  readonly status?: 'active' | 'ended' | undefined
  readonly deploymentId?: string | undefined
  readonly coldStart?: boolean | undefined
  /** When they began, both included. */
  readonly startTime?: Time | undefined
  readonly endTime?: Time | undefined
  readonly startMsMin?: number | undefined
  readonly startMsMax?: number | undefined
}

/** Sessions. */
export interface SessionStore {
  create(session: StoredSession): Promise<void>
  /** The start was answered. */
  started(id: string, startMs: number, at: Time): Promise<void>
  /** Its caller is there. Nothing happens if it is over. */
  connected(id: string, at: Time): Promise<void>
  tokenUsed(id: string, used: boolean): Promise<void>
  /** Ends a session once; false if it was over before. */
  end(id: string, outcome: CloudSessionOutcome, at: Time): Promise<boolean>
  get(organizationId: string, id: string): Promise<StoredSession | undefined>
  /** One of an agent. */
  find(agentId: string, id: string): Promise<StoredSession | undefined>
  /** The newest first. */
  list(
    agentId: string,
    filter: SessionFilter,
    page: {
      readonly limit: number
      readonly offset: number
      readonly before?: { readonly createdAt: Time; readonly id: string } | undefined
    },
  ): Promise<{ readonly sessions: readonly StoredSession[]; readonly total: number }>
  /** Those of an instance that are not over. */
  open(instanceId: string): Promise<readonly StoredSession[]>
  /** Those of an agent that are not over, whichever instance they were on. */
  openOf(agentId: string): Promise<readonly StoredSession[]>
  /** Removes those that were over before a time. */
  prune(before: Time): Promise<void>
}
