import type { AgentProfile, DeployFailure, DeploymentPhase, DeploymentReason } from '@botcli/protocol/cloud'
import type { Time } from './store.ts'

/** What a deployment runs. It never changes. */
export interface DeploymentConfig {
  /** The build that made the image, if one did. */
  readonly buildId: string | null
  readonly image: string
  readonly secretSet: string | null
  readonly imagePullSecretSet: string | null
  readonly agentProfile: AgentProfile
  /** In seconds. */
  readonly maxSessionDuration: number
  readonly sessionsPerInstance: number
  readonly noiseFilter: { readonly audioFilter: 'tel' | 'pro' | null }
}

/** A deployed bot. */
export interface StoredAgent {
  readonly id: string
  readonly organizationId: string
  readonly name: string
  readonly region: string
  readonly minAgents: number
  readonly maxAgents: number
  /** The newest deployment. */
  readonly desiredDeploymentId: string
  /** The one that takes sessions. */
  readonly activeDeploymentId: string | null
  readonly createdAt: Time
  readonly updatedAt: Time
  readonly deletedAt: Time | null
}

/** How many instances of a deployment were started, and how many of them in place of one that had ended by itself. */
export interface StartCounts {
  readonly started: number
  readonly restarts: number
}

/** One deployment of an agent. */
export interface StoredDeployment {
  readonly id: string
  readonly agentId: string
  readonly number: number
  readonly reason: DeploymentReason
  readonly sourceDeploymentId: string | null
  readonly config: DeploymentConfig
  /** The version of the organization's secrets that its instances have, whatever comes after. */
  readonly secretsVersion: number
  readonly phase: DeploymentPhase
  readonly phaseStartedAt: Time
  readonly failure: DeployFailure | null
  /** As they were when it failed; none before that. */
  readonly counts: StartCounts
  readonly createdAt: Time
  readonly updatedAt: Time
}

/** A deployment that is to be made; it gets its number from the store, and the secrets of that moment. */
export type NewDeployment = Pick<
  StoredDeployment,
  'id' | 'agentId' | 'reason' | 'sourceDeploymentId' | 'config' | 'createdAt'
>

/** An instance that was started. */
export interface StoredInstance {
  readonly id: string
  readonly agentId: string
  readonly deploymentId: string
  readonly createdAt: Time
  readonly readyAt: Time | null
  readonly endedAt: Time | null
}

/** Agents, their deployments and instances. */
export interface AgentStore {
  /** Makes an agent with its first deployment; false if the organization has one of that name. Refuses as `deploy` does. */
  create(agent: StoredAgent, deployment: NewDeployment): Promise<boolean>
  /** One that was not removed. */
  get(organizationId: string, name: string): Promise<StoredAgent | undefined>
  /** One that was not removed, or else the last of that name that was: its sessions and its log outlive it. */
  latest(organizationId: string, name: string): Promise<StoredAgent | undefined>
  /** By name. Without those that were removed. */
  list(organizationId: string): Promise<readonly StoredAgent[]>
  /** Every agent of every organization that is there, or was removed and has instances left. */
  all(): Promise<readonly StoredAgent[]>
  setScaling(id: string, minAgents: number, maxAgents: number, at: Time): Promise<void>
  /** From now on its name is free. */
  remove(id: string, at: Time): Promise<void>

  /** Makes a deployment, and makes it the desired one. Refuses one whose secret sets are not there any more (DEPLOY-SECRET-NOT-FOUND). */
  deploy(deployment: NewDeployment): Promise<StoredDeployment>
  deployment(agentId: string, id: string): Promise<StoredDeployment | undefined>
  /** The newest first. */
  deployments(
    agentId: string,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<{ readonly deployments: readonly StoredDeployment[]; readonly total: number }>
  /** Those that are neither retired nor failed, the oldest first. */
  openDeployments(agentId: string): Promise<readonly StoredDeployment[]>
  /** Whether an agent has run a build before. */
  hasRun(agentId: string, buildId: string): Promise<boolean>
  /** Those before this that were active once, the newest first. */
  activeBefore(agentId: string, number: number, limit: number): Promise<readonly StoredDeployment[]>
  /** With a failure come the counts of what was started: soon nobody else knows them. */
  setPhase(
    id: string,
    phase: DeploymentPhase,
    at: Time,
    failure?: DeployFailure,
    counts?: StartCounts,
  ): Promise<void>
  /** Lets a deployment take the sessions; the one that took them before is draining from now on. */
  activate(agentId: string, id: string, at: Time): Promise<void>
  /** The names of agents whose newest, active or draining deployments need something. */
  users(
    organizationId: string,
    needed: { readonly secretSet: string } | { readonly buildId: string },
  ): Promise<readonly string[]>

  addInstance(instance: StoredInstance): Promise<void>
  instanceReady(id: string, at: Time): Promise<void>
  instanceEnded(id: string, at: Time): Promise<void>
  /** Those that have not ended. */
  openInstances(agentId: string): Promise<readonly StoredInstance[]>
  /** Forgets instances that ended before a time, and agents that were removed before it and have no instances left. */
  prune(before: Time): Promise<void>
}
