import { ANSWERS_FILE } from './answers.ts'
import { clientFiles } from './client/index.ts'
import type { Configuration } from './configuration.ts'
import { ScaffoldError } from './errors.ts'
import { codingAgentFiles, projectGuideFiles } from './guide/guide.ts'
import type { PlannedFile } from './plan.ts'
import { botcliVersion, envVariables, nextSteps, rootFiles, serverFiles, wheelPath } from './server/index.ts'

/** What a plan needs that is not in this package. */
export interface PlanInput {
  readonly configuration: Configuration
  /** Our Python package, which a project carries along; the runner has it. */
  readonly wheel: Uint8Array
}

/** Every file of a project, in memory, but the one that remembers the answers, which depends on what is written. */
export function planProject({ configuration, wheel }: PlanInput): readonly PlannedFile[] {
  const files = textFiles(configuration)
  return checkPlan([
    ...guidesOf(configuration, files),
    ...files,
    { path: wheelPath(), content: '', bytes: wheel },
  ])
}

/** The guide files of a project alone, or those for a coding agent that is to make one. */
export function planGuides(configuration?: Configuration): readonly PlannedFile[] {
  if (configuration === undefined) return codingAgentFiles(botcliVersion())
  return guidesOf(configuration, textFiles(configuration))
}

function guidesOf(configuration: Configuration, files: readonly PlannedFile[]): readonly PlannedFile[] {
  const variables = envVariables(configuration)
  const steps = nextSteps(configuration)
  return projectGuideFiles({ configuration, files, variables, steps }, botcliVersion())
}

function textFiles(configuration: Configuration): readonly PlannedFile[] {
  return [...serverFiles(configuration), ...clientFiles(configuration), ...rootFiles(configuration)]
}

/** A plan is wrong if two of its files cannot be on one disk, or one is not inside of the project. */
export function checkPlan(files: readonly PlannedFile[]): readonly PlannedFile[] {
  const names = new Map<string, string>([[ANSWERS_FILE, ANSWERS_FILE]])
  for (const { path } of files) {
    const parts = path.split('/')
    if (
      parts.some((part) => part === '' || part === '.' || part === '..' || /[\\:*?"<>|\p{Cc}]/u.test(part))
    ) {
      throw new ScaffoldError('plan_invalid', `The plan has a file of the name ${JSON.stringify(path)}.`)
    }
    for (let depth = 1; depth <= parts.length; depth += 1) {
      const isFile = depth === parts.length
      const name = parts.slice(0, depth).join('/')
      const known = names.get(name.toLowerCase())
      const same = isFile ? undefined : `${name}/`
      if (known !== undefined && known !== same) {
        throw new ScaffoldError('plan_invalid', `The plan has ${known} as well as ${path}.`)
      }
      names.set(name.toLowerCase(), same ?? name)
    }
  }
  return files
}
