import type { AgentDetails, AgentListItem, DeploymentRecord, RevisionInfo } from '@botcli/protocol/cloud'
import type { StoredAgent, StoredDeployment } from '../store/agents.ts'
import { downWords, START_FAILED } from './deploy-failure.ts'
import type { FleetView } from './fleet.ts'

/** A deployment as the API shows it. */
export function deploymentRecordOf(deployment: StoredDeployment): DeploymentRecord {
  const {
    agentId,
    config,
    secretsVersion: _,
    counts: __,
    phaseStartedAt,
    createdAt,
    updatedAt,
    ...rest
  } = deployment
  return {
    ...rest,
    ...config,
    serviceId: agentId,
    phaseStartedAt: isoTime(phaseStartedAt),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
  }
}

/** An agent in a list, as the API shows it. */
export function agentItemOf(
  agent: StoredAgent,
  desired: StoredDeployment,
  view: FleetView,
): Omit<AgentListItem, 'deployment'> {
  const { id, name, region, organizationId, desiredDeploymentId, activeDeploymentId } = agent
  const active = view.revisions.find(({ deploymentID }) => deploymentID === activeDeploymentId)
  return {
    ...{ id, name, region, organizationId, desiredDeploymentId, activeDeploymentId },
    ready: desiredDeploymentId === activeDeploymentId && !isDown(active),
    available: activeDeploymentId !== null && !isDown(active),
    reconciledDeploymentId: isDecided(desired) ? desiredDeploymentId : activeDeploymentId,
    activeSessionCount: view.sessions,
    createdAt: isoTime(agent.createdAt),
    updatedAt: isoTime(agent.updatedAt),
  }
}

/** An agent with all that is known of it, as the API shows it. */
export function agentDetailsOf(agent: StoredAgent, desired: StoredDeployment, view: FleetView): AgentDetails {
  const item = agentItemOf(agent, desired, view)
  const { config, failure } = desired
  const infoOf = (id: string): RevisionInfo | undefined =>
    view.revisions.find(({ deploymentID }) => deploymentID === id)
  const current = infoOf(desired.id) ?? overInfo(desired)
  const others = view.revisions.filter(({ deploymentID }) => deploymentID !== desired.id)
  const active = infoOf(agent.activeDeploymentId ?? '')
  const { reason, message, lastExitCode } = active?.health ?? current.health
  const exit = lastExitCode === null ? '' : ` (exit code ${lastExitCode})`
  const down =
    isDown(active) && reason !== null
      ? [
          {
            code: reason,
            message: `The agent takes no sessions: ${downWords(reason)}${exit}.${message === null ? '' : `\n${message}`}`,
          },
        ]
      : []
  return {
    ...item,
    activeDeploymentReady: active?.health.ready ?? false,
    autoScaling: { minReplicas: agent.minAgents, maxReplicas: agent.maxAgents },
    agentProfile: config.agentProfile,
    noiseFilter: config.noiseFilter,
    deployment: deploymentRecordOf(desired),
    currentRevision: current,
    previousRevision: others.find(({ phase }) => phase === 'Active') ?? others.at(-1) ?? null,
    instances: [...view.instances],
    errors: [...(failure ? [{ code: failure.code, message: failure.message }] : []), ...down],
    conditions: [
      {
        type: 'Progressing',
        status: isDecided(desired) ? 'False' : 'True',
        reason: desired.phase,
        message: `Deployment ${desired.number} is ${PHASES[desired.phase]}.`,
      },
      {
        type: 'Degraded',
        status: failure !== null || down.length > 0 ? 'True' : 'False',
        reason: failure?.code ?? down[0]?.code ?? 'Healthy',
        message: failure?.message ?? down[0]?.message ?? 'Nothing is wrong.',
      },
    ],
  }
}

const PHASES: Readonly<Record<StoredDeployment['phase'], string>> = {
  Creating: 'about to be rolled out',
  Validating: 'being rolled out',
  Active: 'active',
  Draining: 'draining',
  Retired: 'retired',
  Failed: 'not active: it failed',
}

/** Whether a deployment has become active, or will not. */
function isDecided({ phase }: StoredDeployment): boolean {
  return phase !== 'Creating' && phase !== 'Validating'
}

/** Instances that keep ending or do not start take no sessions; that there is none now is no fault. */
function isDown(revision: RevisionInfo | undefined): boolean {
  return revision !== undefined && !revision.health.ready && revision.health.reason !== null
}

/** A deployment of which nothing runs any more. */
function overInfo({ id, number, phase, phaseStartedAt, failure, counts }: StoredDeployment): RevisionInfo {
  return {
    deploymentID: id,
    number,
    phase,
    readyReplicas: 0,
    phaseStartedAt: isoTime(phaseStartedAt),
    health: {
      ready: false,
      state: 'terminated',
      restartCount: counts.restarts,
      replicasStarted: counts.started,
      reason: failure === null ? null : START_FAILED,
      lastExitCode: failure?.exitCode ?? null,
      message: failure?.detail ?? null,
    },
  }
}

function isoTime(time: number): string {
  return new Date(time).toISOString()
}
