import type { Configuration } from '../configuration.ts'
import type { EnvVariable, NextStep, PlannedFile } from '../plan.ts'

/** What the guide of a project tells of. */
export interface ProjectFacts {
  readonly configuration: Configuration
  /** Every file of the project that is text. */
  readonly files: readonly PlannedFile[]
  readonly variables: readonly EnvVariable[]
  readonly steps: readonly NextStep[]
}

/** Whether a file of the project has a text in it. */
export function fileHas({ files }: ProjectFacts, path: string, text: string): boolean {
  return files.some((file) => file.path === path && file.content.includes(text))
}

/** The names of the scenarios that test the bot. */
export function scenarioNames({ files }: ProjectFacts): readonly string[] {
  const folder = 'server/evals/'
  return files.flatMap(({ path }) => (path.startsWith(folder) ? [path.slice(folder.length)] : []))
}
