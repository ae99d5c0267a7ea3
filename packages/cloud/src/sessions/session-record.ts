import type { SessionRecord } from '@botcli/protocol/cloud'
import type { StoredSession } from '../store/sessions.ts'

/** A session as the API shows it. */
export function sessionRecordOf(session: StoredSession, now: number): SessionRecord {
  const { connectedAt, endedAt, startMs, outcome, state } = session
  const until = endedAt ?? now
  return {
    sessionId: session.id,
    serviceId: session.agentId,
    agentName: session.agentName,
    organizationId: session.organizationId,
    deploymentId: session.deploymentId,
    instanceId: session.instanceId,
    transport: session.transport,
    state,
    createdAt: isoTime(session.createdAt),
    updatedAt: isoTime(session.updatedAt),
    connectedAt: connectedAt === null ? null : isoTime(connectedAt),
    endedAt: endedAt === null ? null : isoTime(endedAt),
    durationSeconds: connectedAt === null ? null : Math.max(0, until - connectedAt) / 1000,
    botStartSeconds: startMs === null ? null : startMs / 1000,
    coldStart: session.coldStart,
    completionStatus: outcome?.cause ?? null,
    outcome,
  }
}

function isoTime(time: number): string {
  return new Date(time).toISOString()
}
