import type {
  AgentDetails,
  AgentListItem,
  DeploymentPhase,
  DeploymentRecord,
  InstanceRecord,
  RevisionInfo,
} from '@botcli/protocol/cloud'
import { COLOURS, type Paint } from '../paint.ts'
import { facts, shownTime, table } from '../remote/table.ts'

/** Where an agent stands, in words. */
export type AgentState = 'ready' | 'updating' | 'update failed' | 'starting' | 'failed'

const STATE_COLOURS: Readonly<Record<AgentState, number>> = {
  ready: COLOURS.green,
  updating: COLOURS.yellow,
  'update failed': COLOURS.yellow,
  starting: COLOURS.yellow,
  failed: COLOURS.red,
}

const PHASE_COLOURS: Readonly<Record<DeploymentPhase, number>> = {
  Creating: COLOURS.yellow,
  Validating: COLOURS.yellow,
  Active: COLOURS.green,
  Draining: COLOURS.dim,
  Retired: COLOURS.dim,
  Failed: COLOURS.red,
}

/** Where an agent stands: whether it takes sessions, and whether its newest deployment is decided upon. */
export function stateOf(
  agent: Pick<AgentListItem, 'ready' | 'available' | 'desiredDeploymentId' | 'reconciledDeploymentId'>,
): AgentState {
  if (agent.ready && agent.available) return 'ready'
  const isDecided = agent.desiredDeploymentId === agent.reconciledDeploymentId
  if (agent.available) return isDecided ? 'update failed' : 'updating'
  return isDecided ? 'failed' : 'starting'
}

/** The same with its colour. */
export function shownState(agent: Parameters<typeof stateOf>[0], paint: Paint): string {
  const state = stateOf(agent)
  return paint(STATE_COLOURS[state], state)
}

/** A phase with its colour. */
export function shownPhase(phase: DeploymentPhase, paint: Paint): string {
  return paint(PHASE_COLOURS[phase], phase)
}

/** How many instances there may be. */
export function shownScaling({ minReplicas, maxReplicas }: AgentDetails['autoScaling']): string {
  return minReplicas === maxReplicas
    ? `${minReplicas} instance${minReplicas === 1 ? '' : 's'}`
    : `${minReplicas} to ${maxReplicas} instances`
}

/** The number of the deployment that takes sessions, where one does. */
export function activeNumber(agent: AgentDetails): number | undefined {
  const { activeDeploymentId, available, currentRevision, previousRevision } = agent
  if (!available) return undefined
  return [currentRevision, previousRevision].find((one) => one?.deploymentID === activeDeploymentId)?.number
}

/** What a deployment runs, in a word or two. */
export function shownArtifact({ buildId, image }: DeploymentRecord): string {
  return buildId === null ? `image ${image}` : `build ${buildId.slice(0, 8)}`
}

/** Everything about an agent, with its deployment that is active, where there is one. */
export function agentLines(
  agent: AgentDetails,
  active: DeploymentRecord | undefined,
  paint: Paint,
): readonly string[] {
  const { deployment: newest, errors } = agent
  const shown = active ?? newest
  const broken = newest.failure
  return [
    ...facts([
      ['name', agent.name],
      ['state', shownState(agent, paint)],
      ['region', agent.region],
      ['sessions', String(agent.activeSessionCount)],
      ['scaling', `${shownScaling(agent.autoScaling)}, ${perInstance(shown)}`],
      ['warning', agent.warning],
      ['profile', shown.agentProfile],
      ['longest', `${shown.maxSessionDuration} s a session`],
      ['secret set', shown.secretSet],
      ['noise filter', shown.noiseFilter.audioFilter],
      [
        'runs',
        active ? `${shownArtifact(active)} (deployment ${active.number}, ${active.reason})` : 'nothing',
      ],
      ['newest', newest.id === active?.id ? undefined : shownNewest(newest)],
      ['updated', shownTime(agent.updatedAt)],
    ]),
    ...errors.map(({ code, message }) => paint(COLOURS.red, `${message} [${code}]`)),
    ...agent.conditions
      .filter(
        ({ status, message }) => status === 'True' && !errors.some((error) => error.message === message),
      )
      .map(({ type, message }) => paint(COLOURS.yellow, `${type}: ${message}`)),
    ...(broken?.detail ? ['', ...indented(broken.detail)] : []),
    '',
    ...revisionLines(agent, paint),
    ...(agent.instances.length === 0 ? [] : ['', ...instanceLines(agent, paint)]),
  ]
}

/** A text of several lines, such as a traceback, a little to the right. */
export function indented(text: string): readonly string[] {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd())
}

function shownNewest(newest: DeploymentRecord): string {
  const standing = newest.phase === 'Failed' ? 'failed' : 'is not active yet'
  return `${shownArtifact(newest)} (deployment ${newest.number}, ${newest.reason}), which ${standing}`
}

function perInstance({ sessionsPerInstance: count }: DeploymentRecord): string {
  return count === 1 ? '1 session each' : `${count} sessions each`
}

function revisionLines(agent: AgentDetails, paint: Paint): readonly string[] {
  const revisions = [agent.currentRevision, ...(agent.previousRevision ? [agent.previousRevision] : [])]
  const rows = revisions.map((one) => [
    String(one.number),
    shownPhase(one.phase, paint),
    one.deploymentID === agent.activeDeploymentId ? 'yes' : 'no',
    String(one.readyReplicas),
    String(one.health.restartCount),
    healthOf(one),
  ])
  return table(['DEPLOYMENT', 'PHASE', 'TAKES SESSIONS', 'READY', 'RESTARTS', 'HEALTH'], rows)
}

function healthOf({ health: { state, reason, lastExitCode } }: RevisionInfo): string {
  if (reason === null) return state
  return lastExitCode === null ? reason : `${reason} (exit code ${lastExitCode})`
}

function instanceLines({ instances, ...agent }: AgentDetails, paint: Paint): readonly string[] {
  const numbers = new Map(
    [agent.currentRevision, agent.previousRevision].flatMap((one) =>
      one === null ? [] : [[one.deploymentID, String(one.number)] as const],
    ),
  )
  const rows = instances.map((one) => [
    one.id,
    paint(one.state === 'ready' ? COLOURS.green : COLOURS.yellow, one.state),
    numbers.get(one.deploymentId) ?? one.deploymentId.slice(0, 8),
    sessionsOf(one),
    shownTime(one.startedAt),
  ])
  return table(['INSTANCE', 'STATE', 'DEPLOYMENT', 'SESSIONS', 'STARTED'], rows)
}

function sessionsOf({ sessions, maxSessions }: InstanceRecord): string {
  return `${sessions} of ${maxSessions}`
}
