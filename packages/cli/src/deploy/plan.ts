import { join, relative } from 'node:path'
import { readBuildId } from '../build/build-id.ts'
import { type BuildPlan, findProject, type Project, planOf } from '../build/plan.ts'
import type { AgentSettings } from '../deploy-file/deploy-file.ts'
import { DEPLOY_FILE } from '../deploy-file/deploy-file.ts'
import type { OptionValues } from '../options/option.ts'
import { UsageError } from '../usage-error.ts'
import type { DEPLOY_OPTIONS } from './options.ts'

type DeployValues = OptionValues<typeof DEPLOY_OPTIONS>

/** What an agent runs: an image, a build that is there, or a folder that is built first. */
export type DeploySource =
  | { readonly kind: 'image'; readonly image: string }
  /** The beginning of its id, or all of it. */
  | { readonly kind: 'build'; readonly build: string }
  | { readonly kind: 'folder'; readonly plan: BuildPlan }

/** Everything that is to be deployed, checked as far as it can be here. */
export interface DeployPlan {
  readonly name: string
  readonly source: DeploySource
  readonly settings: Omit<AgentSettings, 'agentName' | 'image' | 'buildId' | 'secretSet'>
  /** `null` takes it away. */
  readonly secretSet: string | null | undefined
  readonly region: string | undefined
  /** The folder of the project, as it is typed from here. */
  readonly shownHome: string
}

/** Makes a plan of the command line and the deployment file, or tells everything that is wrong with them. */
export async function planDeploy(directory: string, values: DeployValues, cwd: string): Promise<DeployPlan> {
  const project = await findProject(directory, cwd)
  const file = project.file?.agent ?? {}
  const settings = {
    imageCredentials: values.imageCredentials ?? file.imageCredentials,
    agentProfile: values.profile ?? file.agentProfile,
    maxSessionDuration: file.maxSessionDuration,
    sessionsPerInstance: file.sessionsPerInstance,
    minAgents: values.min ?? file.minAgents,
    maxAgents: values.max ?? file.maxAgents,
    audioFilter: file.audioFilter,
  }
  const name = values.agent ?? file.agentName
  const problems = [...problemsOf(values, settings), ...(name === undefined ? [nameless(project)] : [])]
  if (problems.length > 0 || name === undefined) throw new UsageError(problems)
  return {
    name,
    source: await sourceOf(project, values),
    settings,
    secretSet: values.noSecretSet ? null : (values.secretSet ?? file.secretSet),
    region: values.region ?? project.file?.region,
    shownHome: relative(cwd, project.home),
  }
}

function problemsOf(values: DeployValues, { minAgents, maxAgents }: AgentSettings): readonly string[] {
  const { image, build, secretSet, noSecretSet, noCache } = values
  const isBuilt = image === undefined && build === undefined
  return [
    ...(image !== undefined && build !== undefined ? ['--image and --build cannot both be given.'] : []),
    ...(secretSet !== undefined && noSecretSet
      ? ['--secret-set and --no-secret-set cannot both be given.']
      : []),
    ...(!isBuilt && noCache ? ['--no-cache is for builds, and nothing is built.'] : []),
    ...(minAgents !== undefined && maxAgents !== undefined && minAgents > maxAgents
      ? [`There cannot be at least ${minAgents} and at most ${maxAgents} instances: see --min and --max.`]
      : []),
  ]
}

function nameless({ home, file }: Project): string {
  return file === undefined
    ? `There is no ${DEPLOY_FILE} in ${home}. Make one with the line agent_name = "my-bot", or give --agent NAME.`
    : `${join(home, DEPLOY_FILE)} has no agent_name. Add the line agent_name = "my-bot", or give --agent NAME.`
}

/** What the command line says wins over the file as a whole: an image there does not stand beside a build here. */
async function sourceOf(project: Project, values: DeployValues): Promise<DeploySource> {
  const { dockerfile, region } = values
  const { image, buildId } = project.file?.agent ?? {}
  const said = values.image ?? values.build ?? dockerfile
  if (values.image !== undefined) return { kind: 'image', image: values.image }
  if (values.build !== undefined) return { kind: 'build', build: readBuildId([values.build]) }
  if (said === undefined && image !== undefined) return { kind: 'image', image }
  if (said === undefined && buildId !== undefined) return { kind: 'build', build: buildId.toLowerCase() }
  return { kind: 'folder', plan: await planOf(project, { dockerfile, region }) }
}
