import {
  type AgentDetails,
  type AgentLogEntry,
  agentDetails,
  agentLogEntry,
  type DeploymentRecord,
  deploymentRecord,
  type SessionRecord,
  sessionRecord,
} from '@botcli/protocol/cloud'

const AT = '2024-05-06T07:08:09.000Z'

/** An id that ends with a number. */
export function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}

/** A deployment as the cloud tells of it. */
export function aDeployment(over: Partial<DeploymentRecord> = {}): DeploymentRecord {
  return deploymentRecord.parse({
    ...{
      id: idOf(1),
      serviceId: idOf(2),
      number: 1,
      reason: 'create',
      sourceDeploymentId: null,
      phase: 'Active',
    },
    ...{ phaseStartedAt: AT, buildId: null, image: 'bot:1', secretSet: null, imagePullSecretSet: null },
    ...{ agentProfile: 'agent-1x', maxSessionDuration: 7200, sessionsPerInstance: 1, failure: null },
    ...{ noiseFilter: { audioFilter: null }, createdAt: AT, updatedAt: AT },
    ...over,
  })
}

/** An agent as the cloud tells of it. */
export function anAgent(over: Partial<AgentDetails> = {}): AgentDetails {
  const deployment = over.deployment ?? aDeployment()
  const health = { ready: true, state: 'running', restartCount: 0, replicasStarted: 1 }
  const nothing = { reason: null, lastExitCode: null, message: null }
  const { id, number, phase } = deployment
  return agentDetails.parse({
    ...{
      id: idOf(2),
      name: 'my-bot',
      region: 'local',
      organizationId: idOf(3),
      ready: true,
      available: true,
    },
    ...{
      createdAt: AT,
      updatedAt: AT,
      desiredDeploymentId: id,
      activeDeploymentId: id,
      reconciledDeploymentId: id,
    },
    ...{
      activeDeploymentReady: true,
      autoScaling: { minReplicas: 0, maxReplicas: 50 },
      activeSessionCount: 0,
    },
    ...{ agentProfile: 'agent-1x', noiseFilter: { audioFilter: null }, deployment, previousRevision: null },
    currentRevision: {
      ...{ deploymentID: id, number, phase, readyReplicas: 1, phaseStartedAt: AT },
      health: { ...health, ...nothing },
    },
    ...{ instances: [], errors: [], conditions: [] },
    ...over,
  })
}

/** A session as the cloud tells of it. */
export function aSession(over: Partial<SessionRecord> = {}): SessionRecord {
  return sessionRecord.parse({
    ...{ sessionId: idOf(5), serviceId: idOf(2), agentName: 'my-bot', organizationId: idOf(3) },
    ...{ deploymentId: idOf(1), instanceId: idOf(4), transport: 'webrtc', state: 'ended' },
    ...{ createdAt: AT, updatedAt: AT, connectedAt: AT, endedAt: null, durationSeconds: 3 },
    ...{ botStartSeconds: 0.1, coldStart: false, completionStatus: null, outcome: null },
    ...over,
  })
}

/** An entry of a log. */
export function anEntry(id: number, log: string, over: Partial<AgentLogEntry> = {}): AgentLogEntry {
  return agentLogEntry.parse({
    ...{ id, log, timestamp: AT, source: 'run', level: 'info' },
    ...{ deploymentId: idOf(1), instanceId: idOf(4), sessionId: null },
    ...over,
  })
}
