import type { AgentDetails, BuildRecord, CreateAgentRequest } from '@botcli/protocol/cloud'
import { shownScaling } from '../agent/report.ts'
import { checkScaling } from '../agent/scaling.ts'
import { findBuildId } from '../build/build-id.ts'
import { readContext } from '../build/context/context.ts'
import { BuildCreation } from '../build/creation.ts'
import { CreationReport } from '../build/creation-report.ts'
import { EXIT } from '../exit-codes.ts'
import type { CloudClient } from '../remote/cloud-client.ts'
import type { Desk } from '../remote/desk.ts'
import { RemoteError } from '../remote/remote-error.ts'
import { checkRegion, checkSecrets } from './checks.ts'
import type { DeployPlan } from './plan.ts'
import { DeployReport } from './report.ts'
import { Rollout } from './rollout.ts'

/** How it is deployed. */
export interface DeployManner {
  readonly noCache: boolean
  readonly force: boolean
  readonly detach: boolean
  /** For how long the roll-out is waited for. */
  readonly limitMs: number
}

/** One run of `botcli deploy`: checks, build, agent, roll-out, in one stream. */
export class Deployment {
  readonly #desk: Desk
  readonly #plan: DeployPlan
  readonly #manner: DeployManner
  readonly #report: DeployReport

  constructor(desk: Desk, plan: DeployPlan, manner: DeployManner) {
    this.#desk = desk
    this.#plan = plan
    this.#manner = manner
    this.#report = new DeployReport(desk)
  }

  async run(): Promise<number> {
    const { name, source } = this.#plan
    const { signal } = this.#desk
    const context = source.kind === 'folder' ? await readContext({ ...source.plan, signal }) : undefined
    const client = await this.#desk.connect()
    const before = await findAgent(client, name)
    checkRegion(before, this.#plan)
    const { minAgents: min, maxAgents: max } = this.#plan.settings
    if (before) checkScaling(before, { min, max })
    const region = before?.region ?? this.#plan.region ?? (await client.properties()).defaultRegion
    await this.#checkSecrets(client, region)
    this.#report.begin(this.#plan, { url: client.url, region, before })
    let buildId: string | undefined
    if (context !== undefined) {
      const reports = new CreationReport(this.#desk, 'built')
      reports.context(context)
      const wanted = { context, region, noCache: this.#manner.noCache }
      const build = await new BuildCreation(this.#desk, reports).build(client, wanted)
      signal.throwIfAborted()
      if (build.status !== 'success') return this.#notBuilt(build, before)
      buildId = build.id
    } else if (source.kind === 'build') buildId = await findBuildId(client, source.build)
    const agent = await this.#apply(client, { before, region, buildId })
    return this.#rollOut(client, before, agent)
  }

  async #checkSecrets(client: CloudClient, region: string): Promise<void> {
    const { secretSet, settings } = this.#plan
    if (!secretSet && settings.imageCredentials === undefined) return
    const { sets } = await client.listSecretSets()
    checkSecrets(sets, this.#plan, region)
  }

  #notBuilt(build: BuildRecord, before: AgentDetails | undefined): number {
    this.#report.notBuilt(this.#plan.name, build, before)
    return EXIT.failed
  }

  /** Makes the agent, or changes it. What nobody has said stays as it is. */
  async #apply(
    client: CloudClient,
    {
      before,
      region,
      buildId,
    }: {
      readonly before: AgentDetails | undefined
      readonly region: string
      readonly buildId: string | undefined
    },
  ): Promise<AgentDetails> {
    const { name, source, secretSet, settings } = this.#plan
    const shared = {
      ...(source.kind === 'image' ? { image: source.image } : { buildId }),
      ...settingsOf(settings),
    }
    try {
      if (before === undefined) {
        const sets = secretSet ? { secretSet } : {}
        return await client.agents.create({ serviceName: name, region, ...shared, ...sets })
      }
      const sets = secretSet === undefined ? {} : { secretSet }
      const forceRedeploy = this.#manner.force
      return await client.agents.update(name, { ...shared, ...sets, forceRedeploy })
    } catch (error) {
      if (this.#desk.signal.aborted) this.#report.unknown(name)
      throw error
    }
  }

  async #rollOut(
    client: CloudClient,
    before: AgentDetails | undefined,
    agent: AgentDetails,
  ): Promise<number> {
    if (this.#manner.detach) {
      this.#report.detached(agent)
      return EXIT.ok
    }
    const rollout = new Rollout(client, this.#desk, { limitMs: this.#manner.limitMs })
    if (before?.desiredDeploymentId !== agent.desiredDeploymentId) return rollout.run(agent)
    const scaling = shownScaling(agent.autoScaling)
    const isScaled = scaling !== shownScaling(before.autoScaling)
    return rollout.runUnchanged(
      agent,
      isScaled ? `${agent.name} has ${scaling} now; nothing else has changed.` : 'Nothing has changed.',
    )
  }
}

/** The agent of that name, if there is one. */
async function findAgent(client: CloudClient, name: string): Promise<AgentDetails | undefined> {
  try {
    return await client.agents.get(name)
  } catch (error) {
    if (error instanceof RemoteError && error.status === 404) return undefined
    throw error
  }
}

/** Settings as the API spells them, without those that nobody has said. */
function settingsOf(settings: DeployPlan['settings']): Omit<CreateAgentRequest, 'serviceName'> {
  const { imageCredentials, agentProfile, maxSessionDuration, sessionsPerInstance, audioFilter } = settings
  const { minAgents, maxAgents } = settings
  const isScaled = minAgents !== undefined || maxAgents !== undefined
  return {
    ...(imageCredentials !== undefined && { imagePullSecretSet: imageCredentials }),
    ...(agentProfile !== undefined && { agentProfile }),
    ...(maxSessionDuration !== undefined && { maxSessionDuration }),
    ...(sessionsPerInstance !== undefined && { sessionsPerInstance }),
    ...(audioFilter !== undefined && { noiseFilter: { audioFilter } }),
    ...(isScaled && {
      autoScaling: {
        ...(minAgents !== undefined && { minAgents }),
        ...(maxAgents !== undefined && { maxAgents }),
      },
    }),
  }
}
