import type { ComparedFile, Configuration, NextStep, Problem, ScaffoldError } from '@botcli/scaffold'
import type { Place } from './place.ts'

/** What a run came to. */
export type Outcome =
  | {
      readonly kind: 'project'
      readonly place: Place
      readonly configuration: Configuration
      readonly files: readonly ComparedFile[]
      readonly notices: readonly string[]
      readonly steps: readonly NextStep[]
    }
  | {
      readonly kind: 'guides'
      readonly place: Place
      readonly files: readonly ComparedFile[]
      readonly notices: readonly string[]
      /** Whether a coding agent is to make a project here; the folder has one otherwise. */
      readonly forAgent: boolean
    }
  | {
      readonly kind: 'configuration'
      readonly configuration: Configuration
      readonly notices: readonly string[]
    }
  | {
      readonly kind: 'invalid'
      readonly problems: readonly Problem[]
      /** What stands above the list of problems. */
      readonly message: string
      /** What else there is to know. */
      readonly notices: readonly string[]
      /** Commands that would do. */
      readonly examples: readonly string[]
    }
  | { readonly kind: 'conflict'; readonly place: Place; readonly conflicts: readonly ComparedFile[] }
  | { readonly kind: 'failed'; readonly error: ScaffoldError }
  | { readonly kind: 'cancelled' }

/** Options that are missing or wrong. */
export function invalid(problems: readonly Problem[]): Outcome {
  const count = problems.length === 1 ? 'One thing is' : `${problems.length} things are`
  const message = `${count} missing or wrong. Nothing was written.`
  return { kind: 'invalid', message, problems, notices: [], examples: [] }
}
