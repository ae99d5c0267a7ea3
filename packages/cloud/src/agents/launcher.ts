import { join } from 'node:path'
import { AGENT_PROFILES } from '@botcli/protocol/cloud'
import type { CloudConfig } from '../config.ts'
import type { Artifact, Credentials, Engine, Instance, InstanceSpec } from '../engine/engine.ts'
import type { SecretService } from '../secrets/secret-service.ts'
import type { DeploymentConfig, StoredAgent, StoredDeployment } from '../store/agents.ts'

const BUNDLE = 'bundle:'
/** Bots that wait in an instance with their code loaded. */
const MOST_WARM = 2
/**
 * What a bot cannot have of its instance's memory: the runner, its media worker and a bot that waits need it. A bot that grows is ended by
 * the runner then, which says so, and not by the kernel.
 */
const KEPT_BYTES = 256 * 1024 ** 2

/** What launching takes. */
export interface LauncherOptions {
  readonly engine: Engine
  readonly secrets: SecretService
  readonly config: CloudConfig['agents']
  /** Where the bundles of builds are. */
  readonly bundleFolder: string
}

/** Starts instances of deployments: their artifact, their secrets as they were when the deployment was made, their settings. */
export class Launcher {
  readonly #options: LauncherOptions

  constructor(options: LauncherOptions) {
    this.#options = options
  }

  /** Why this machine cannot run an artifact; nothing if it can. */
  async refusal(config: DeploymentConfig): Promise<string | undefined> {
    return this.#options.engine.refusal(this.#artifactOf(config, undefined))
  }

  async launch(
    agent: StoredAgent,
    { id: deploymentId, config, secretsVersion }: StoredDeployment,
    instanceId: string,
    unwanted: AbortSignal,
  ): Promise<Instance> {
    const { engine, secrets, config: limits } = this.#options
    const { organizationId } = agent
    const { secretSet, imagePullSecretSet, noiseFilter } = config
    const values =
      secretSet === null ? {} : await secrets.variables(organizationId, secretSet, secretsVersion)
    const credentials =
      imagePullSecretSet === null
        ? undefined
        : await secrets.pullSecret(organizationId, imagePullSecretSet, secretsVersion)
    const { cpus, memoryBytes } = AGENT_PROFILES[config.agentProfile]
    const spec: InstanceSpec = {
      artifact: this.#artifactOf(config, credentials),
      env: {
        ...(noiseFilter.audioFilter !== null && { BOTCLI_NOISE_FILTER: noiseFilter.audioFilter }),
        ...values,
      },
      limits: { cpus, memoryBytes },
      settings: {
        instanceId,
        agentName: agent.name,
        deploymentId,
        region: agent.region,
        maxSessions: config.sessionsPerInstance,
        maxSessionSeconds: config.maxSessionDuration,
        maxMemoryBytes: memoryBytes - KEPT_BYTES,
        warm: Math.min(MOST_WARM, config.sessionsPerInstance),
        orphanSeconds: limits.orphanSeconds,
        stopSeconds: limits.stopSeconds,
        ...(limits.icePorts && { icePorts: limits.icePorts }),
        ...(limits.announcedAddress !== undefined && { announcedAddress: limits.announcedAddress }),
      },
    }
    return engine.start(spec, unwanted)
  }

  /** An instance that was started before this process was. */
  async find(instanceId: string): Promise<Instance | undefined> {
    return this.#options.engine.find(instanceId)
  }

  /** The ids of all of which something is left. */
  async list(): Promise<readonly string[]> {
    return this.#options.engine.list()
  }

  /** Removes what is left of one that has ended. */
  async remove(instanceId: string): Promise<void> {
    await this.#options.engine.remove(instanceId)
  }

  #artifactOf({ image, buildId }: DeploymentConfig, credentials: Credentials | undefined): Artifact {
    if (buildId === null) return { kind: 'image', name: image, foreign: { credentials } }
    if (!image.startsWith(BUNDLE)) return { kind: 'image', name: image }
    return { kind: 'bundle', folder: join(this.#options.bundleFolder, image.slice(BUNDLE.length)) }
  }
}
