import * as z from 'zod'
import { time } from './fields.ts'
import { secretSetName } from './secrets.ts'

/** Names of agents. */
export const agentName = z
  .string()
  .min(2)
  .max(54)
  .regex(/^[a-z0-9](?:[-a-z0-9]*[a-z0-9])$/, {
    error: 'must be lower case letters, digits and hyphens, and begin and end with a letter or digit',
  })

/** What one instance of each profile may take. */
export const AGENT_PROFILES = {
  'agent-1x': { cpus: 0.5, memoryBytes: 1024 ** 3 },
  'agent-2x': { cpus: 1, memoryBytes: 2 * 1024 ** 3 },
  'agent-3x': { cpus: 1.5, memoryBytes: 3 * 1024 ** 3 },
} as const satisfies Record<string, { readonly cpus: number; readonly memoryBytes: number }>
export type AgentProfile = keyof typeof AGENT_PROFILES
/** The names of all profiles. */
export const AGENT_PROFILE_NAMES = Object.keys(AGENT_PROFILES) as readonly AgentProfile[]

/** What holds for an agent of which nothing else is said. */
export const AGENT_DEFAULTS = {
  minAgents: 0,
  maxAgents: 50,
  agentProfile: 'agent-1x',
  maxSessionDuration: 7200,
  sessionsPerInstance: 1,
} as const

/** Limits of the same. */
export const AGENT_LIMITS = {
  agents: { min: 0, max: 1000 },
  maxSessionDuration: { min: 60, max: 14_400 },
  sessionsPerInstance: { min: 1, max: 100 },
} as const

const { agents, maxSessionDuration, sessionsPerInstance } = AGENT_LIMITS

/** How many instances there are: so many always, and so many at most. */
export const autoScaling = z.strictObject({
  minAgents: z.int().min(agents.min).max(agents.max).optional(),
  maxAgents: z.int().min(1).max(agents.max).optional(),
})

/** Cleans the caller's voice: for the phone, for studios, or not at all. */
export const noiseFilter = z.strictObject({ audioFilter: z.enum(['tel', 'pro']).nullable() })

const shared = {
  /** A container image; either this or `buildId`. */
  image: z.string().min(1).max(512).optional(),
  /** A successful build of the same region. */
  buildId: z.guid().toLowerCase().optional(),
  nodeType: z.enum(['arm', 'x86']).optional(),
  imagePullSecretSet: secretSetName.optional(),
  secretSet: secretSetName.optional(),
  autoScaling: autoScaling.optional(),
  noiseFilter: noiseFilter.optional(),
  agentProfile: z.enum(AGENT_PROFILE_NAMES).optional(),
  /** When a session is ended at the latest, in seconds. */
  maxSessionDuration: z.int().min(maxSessionDuration.min).max(maxSessionDuration.max).optional(),
  sessionsPerInstance: z.int().min(sessionsPerInstance.min).max(sessionsPerInstance.max).optional(),
}

/** Asks for a new agent. */
export const createAgentRequest = z.strictObject({
  serviceName: agentName,
  region: z.string().optional(),
  ...shared,
})
export type CreateAgentRequest = z.infer<typeof createAgentRequest>

/** Changes an agent. What is left out stays; `null` takes a secret set away. A change of more than `autoScaling` makes a new deployment. */
export const updateAgentRequest = z.strictObject({
  ...shared,
  secretSet: secretSetName.nullable().optional(),
  imagePullSecretSet: secretSetName.nullable().optional(),
  /** Makes a new deployment even if nothing has changed. */
  forceRedeploy: z.boolean().default(false),
})
export type UpdateAgentRequest = z.infer<typeof updateAgentRequest>

/** The life of a deployment. It is `Failed` when it never became active, and `Retired` when a later one has taken over and its last session is over. */
export const DEPLOYMENT_PHASES = [
  'Creating',
  'Validating',
  'Active',
  'Draining',
  'Retired',
  'Failed',
] as const
/** Where a deployment stands. */
export const deploymentPhase = z.enum(DEPLOYMENT_PHASES)
export type DeploymentPhase = z.infer<typeof deploymentPhase>

/** Why a deployment was made. */
export const deploymentReason = z.enum(['create', 'update', 'rollback', 'promote', 'secrets'])
export type DeploymentReason = z.infer<typeof deploymentReason>

/** What went wrong with a deployment or an instance: a code for programs, a sentence, and the bot's own last words. */
export const deployFailure = z.strictObject({
  code: z.string(),
  message: z.string(),
  /** The traceback or the last lines of output. */
  detail: z.string().nullable(),
  exitCode: z.int().nullable(),
})
export type DeployFailure = z.infer<typeof deployFailure>

/** An instance of an agent. */
export const instanceRecord = z.strictObject({
  id: z.uuid(),
  deploymentId: z.uuid(),
  state: z.enum(['starting', 'ready', 'draining', 'stopping']),
  sessions: z.int(),
  maxSessions: z.int(),
  startedAt: time,
  readyAt: time.nullable(),
})
export type InstanceRecord = z.infer<typeof instanceRecord>

/** How the instances of a deployment do. */
export const revisionHealth = z.strictObject({
  ready: z.boolean(),
  state: z.enum(['running', 'waiting', 'terminated']),
  /** How often an instance that had ended by itself was started again. */
  restartCount: z.int(),
  replicasStarted: z.int(),
  /** `CrashLoopBackOff`, `StartFailed`, `OOMKilled` or `Error`. */
  reason: z.string().nullable(),
  lastExitCode: z.int().nullable(),
  /** The bot's own last words, or why it could not even be started. */
  message: z.string().nullable(),
})

/** A deployment that has instances, or is about to have some. */
export const revisionInfo = z.strictObject({
  deploymentID: z.uuid(),
  number: z.int(),
  phase: deploymentPhase,
  readyReplicas: z.int(),
  phaseStartedAt: time,
  health: revisionHealth,
})
export type RevisionInfo = z.infer<typeof revisionInfo>

/** One deployment: what runs, and how it went. It never changes but for its phase. */
export const deploymentRecord = z.strictObject({
  id: z.uuid(),
  serviceId: z.uuid(),
  /** From 1 on, in the order in which they were made. */
  number: z.int(),
  reason: deploymentReason,
  /** The deployment that was rolled back to, or promoted. */
  sourceDeploymentId: z.uuid().nullable(),
  phase: deploymentPhase,
  phaseStartedAt: time,
  buildId: z.uuid().nullable(),
  image: z.string(),
  secretSet: z.string().nullable(),
  imagePullSecretSet: z.string().nullable(),
  agentProfile: z.enum(AGENT_PROFILE_NAMES),
  maxSessionDuration: z.int(),
  sessionsPerInstance: z.int(),
  noiseFilter,
  failure: deployFailure.nullable(),
  createdAt: time,
  updatedAt: time,
})
export type DeploymentRecord = z.infer<typeof deploymentRecord>

/** What is wrong with an agent now. */
export const agentError = z.strictObject({ code: z.string(), message: z.string() })
/** What an agent is going through. */
export const agentCondition = z.strictObject({
  type: z.enum(['Progressing', 'Degraded']),
  status: z.enum(['True', 'False']),
  reason: z.string(),
  message: z.string(),
})

/** An agent with all that is known of it. */
export const agentDetails = z.strictObject({
  id: z.uuid(),
  name: agentName,
  region: z.string(),
  organizationId: z.uuid(),
  /** Whether the newest deployment is the one that takes sessions. */
  ready: z.boolean(),
  /** Whether sessions can be started now. */
  available: z.boolean(),
  createdAt: time,
  updatedAt: time,
  /** The newest deployment. */
  desiredDeploymentId: z.uuid(),
  /** The one that takes sessions. */
  activeDeploymentId: z.uuid().nullable(),
  /** The newest one that was decided upon, for better or worse. */
  reconciledDeploymentId: z.uuid().nullable(),
  activeDeploymentReady: z.boolean(),
  autoScaling: z.strictObject({ minReplicas: z.int(), maxReplicas: z.int() }),
  activeSessionCount: z.int(),
  agentProfile: z.enum(AGENT_PROFILE_NAMES),
  noiseFilter,
  deployment: deploymentRecord,
  currentRevision: revisionInfo,
  /** The one that takes sessions while a newer one is not ready, or that has sessions left. */
  previousRevision: revisionInfo.nullable(),
  instances: z.array(instanceRecord),
  errors: z.array(agentError),
  conditions: z.array(agentCondition),
  /** Something to know, such as that nothing has changed, or that there can never be as many instances as are wanted. */
  warning: z.string().optional(),
})
export type AgentDetails = z.infer<typeof agentDetails>

/** An agent in a list. */
export const agentListItem = z.strictObject({
  id: z.uuid(),
  name: agentName,
  region: z.string(),
  organizationId: z.uuid(),
  ready: z.boolean(),
  available: z.boolean(),
  activeSessionCount: z.int(),
  /** The most sessions that it takes at the same time. */
  maxSessionCount: z.int().optional(),
  /** How many instances it has now. */
  instanceCount: z.int().optional(),
  desiredDeploymentId: z.uuid(),
  activeDeploymentId: z.uuid().nullable(),
  reconciledDeploymentId: z.uuid().nullable(),
  createdAt: time,
  updatedAt: time,
  /** There if it was asked for. */
  deployment: deploymentRecord.nullable().optional(),
})
export type AgentListItem = z.infer<typeof agentListItem>
/** All agents of an organization. */
export const agentListResponse = z.strictObject({ services: z.array(agentListItem) })
export type AgentListResponse = z.infer<typeof agentListResponse>

/** The deployments of an agent, the newest first. */
export const deploymentListResponse = z.strictObject({
  deployments: z.array(deploymentRecord),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})
export type DeploymentListResponse = z.infer<typeof deploymentListResponse>
/** Limits of the list of deployments. */
export const DEPLOYMENT_LIST_LIMIT = { min: 1, max: 100, default: 20 } as const

/** Goes back to what an earlier deployment ran, with today's secrets; by default, to the last one that was active before. */
export const rollbackRequest = z.strictObject({ deploymentId: z.guid().toLowerCase().optional() })
export type RollbackRequest = z.infer<typeof rollbackRequest>

/** Takes over what another agent runs, without a rebuild; secrets, scaling and all else stay as they are. */
export const promoteRequest = z.strictObject({
  fromAgent: agentName,
  /** Of that agent; by default, the one that takes its sessions. */
  deploymentId: z.guid().toLowerCase().optional(),
})
export type PromoteRequest = z.infer<typeof promoteRequest>
