import { AGENT_DEFAULTS, type CreateAgentRequest, type UpdateAgentRequest } from '@botcli/protocol/cloud'
import { CloudError } from '../errors.ts'
import type { DeploymentConfig, StoredAgent } from '../store/agents.ts'
import type { Store } from '../store/store.ts'
import type { Launcher } from './launcher.ts'

/** What a check of a configuration needs. */
export interface ConfigCheckOptions {
  readonly store: Store
  readonly launcher: Launcher
  /** The kind of processors of this machine. */
  readonly nodeType: 'arm' | 'x86'
}

/** A registry with a dot or a port, a path, a tag, a digest. */
const FOREIGN_IMAGE =
  /^[a-z\d](?:[a-z\d-]*(?:\.[a-z\d-]+)+(?::\d+)?|[a-z\d-]*:\d+)(?:\/[a-z\d]+(?:[._-]+[a-z\d]+)*)+(?::\w[\w.-]*)?(?:@sha256:[\da-f]{64})?$/
/** To podman these are images that are here. */
const NOT_FOREIGN = /^containers-storage:/

type Request = CreateAgentRequest | UpdateAgentRequest

/** Makes the configuration of a deployment of a request, over the one before, if there is one; and checks that it can run. */
export class ConfigCheck {
  readonly #options: ConfigCheckOptions

  constructor(options: ConfigCheckOptions) {
    this.#options = options
  }

  async configOf(
    { organizationId, region }: Pick<StoredAgent, 'organizationId' | 'region'>,
    request: Request,
    before?: DeploymentConfig,
  ): Promise<DeploymentConfig> {
    this.#checkNodeType(request.nodeType)
    const artifact = await this.#artifact(organizationId, region, request, before)
    const config: DeploymentConfig = {
      ...artifact,
      secretSet: kept(request.secretSet, before?.secretSet),
      imagePullSecretSet: kept(request.imagePullSecretSet, before?.imagePullSecretSet),
      agentProfile: request.agentProfile ?? before?.agentProfile ?? AGENT_DEFAULTS.agentProfile,
      maxSessionDuration:
        request.maxSessionDuration ?? before?.maxSessionDuration ?? AGENT_DEFAULTS.maxSessionDuration,
      sessionsPerInstance:
        request.sessionsPerInstance ?? before?.sessionsPerInstance ?? AGENT_DEFAULTS.sessionsPerInstance,
      noiseFilter: request.noiseFilter ?? before?.noiseFilter ?? { audioFilter: null },
    }
    await this.check(organizationId, region, config)
    return config
  }

  /** Checks that what a configuration names is there, and in its region. */
  async check(organizationId: string, region: string, config: DeploymentConfig): Promise<void> {
    const { secretSet, imagePullSecretSet } = config
    if (config.buildId === null) checkForeign(config.image)
    if (secretSet !== null) await this.#checkSet(organizationId, region, secretSet, 'secret')
    if (imagePullSecretSet !== null)
      await this.#checkSet(organizationId, region, imagePullSecretSet, 'imagePullSecret')
    const refusal = await this.#options.launcher.refusal(config)
    if (refusal !== undefined) throw new CloudError('DEPLOY-IMAGE-NOT-FOUND', refusal)
  }

  async #artifact(
    organizationId: string,
    region: string,
    { image, buildId }: Request,
    before: DeploymentConfig | undefined,
  ): Promise<Pick<DeploymentConfig, 'buildId' | 'image'>> {
    if (image !== undefined && buildId !== undefined) {
      throw new CloudError('INVALID_REQUEST', 'image and buildId: only one of them can be given.')
    }
    if (buildId !== undefined) return this.#build(organizationId, region, buildId)
    if (image !== undefined) return { image, buildId: null }
    if (before) return { image: before.image, buildId: before.buildId }
    throw new CloudError('INVALID_REQUEST', 'image or buildId: one of them is needed.')
  }

  async #build(
    organizationId: string,
    region: string,
    buildId: string,
  ): Promise<Pick<DeploymentConfig, 'buildId' | 'image'>> {
    const build = await this.#options.store.builds.get(organizationId, buildId)
    if (!build) throw new CloudError('DEPLOY-BUILD-NOT-FOUND', `buildId: there is no build ${buildId}.`)
    if (build.status !== 'success' || build.imageUri === null) {
      const message = `buildId: the build is not successful (its status is ${build.status}). Only successful builds can be deployed.`
      throw new CloudError('DEPLOY-BUILD-NOT-SUCCESSFUL', message)
    }
    if (build.region !== region) throw mismatch(`buildId: the build is in ${build.region}`, region)
    return { buildId, image: build.imageUri }
  }

  async #checkSet(
    organizationId: string,
    region: string,
    name: string,
    type: 'secret' | 'imagePullSecret',
  ): Promise<void> {
    const field = type === 'secret' ? 'secretSet' : 'imagePullSecretSet'
    const set = await this.#options.store.secrets.set(organizationId, name)
    if (set?.type !== type) {
      const what = type === 'secret' ? 'secret set' : 'image pull secret'
      throw new CloudError('DEPLOY-SECRET-NOT-FOUND', `${field}: there is no ${what} ${name}.`)
    }
    if (set.region !== region) throw mismatch(`${field}: ${name} is in ${set.region}`, region)
  }

  #checkNodeType(wanted: 'arm' | 'x86' | undefined): void {
    const { nodeType } = this.#options
    if (wanted === undefined || wanted === nodeType) return
    throw new CloudError('INVALID_REQUEST', `nodeType: this machine is ${nodeType}.`)
  }
}

/** What is left out stays; `null` takes it away. */
function kept(wanted: string | null | undefined, before: string | null | undefined): string | null {
  return wanted === undefined ? (before ?? null) : wanted
}

/** What no build has made is of a registry, and says of which: whoever could name what is on this machine would run what others have built. */
function checkForeign(image: string): void {
  if (FOREIGN_IMAGE.test(image) && !NOT_FOREIGN.test(image)) return
  throw new CloudError(
    'INVALID_REQUEST',
    'image: it must begin with its registry, such as registry.example.com/team/bot:1, docker.io/team/bot:1 or localhost:5000/bot:1. What was built here is deployed by the id of its build.',
  )
}

function mismatch(what: string, region: string): CloudError {
  return new CloudError(
    'DEPLOY-REGION-MISMATCH',
    `${what}, and the agent in ${region}. Both must be in the same region.`,
  )
}
